import BotTesting
import Foundation
import LiveTesting
import Logging
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import BotRuntime

@Suite(.live)
struct SupervisorChannelTests {
    /// Returns the answers of a worker to this input, ordered by id.
    private func answers(to input: String, _ requests: WorkerRequests = Self.requests) async throws -> [String] {
        let pipe = Pipe()
        let (lines, written) = AsyncStream.makeStream(of: String.self)
        let channel = SupervisorChannel(
            descriptor: pipe.fileHandleForReading.fileDescriptor, write: { written.yield($0) },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        channel.install(requests)
        Thread.detachNewThread {
            try? pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
            try? pipe.fileHandleForWriting.close()
        }
        await channel.serve()
        written.finish()
        var answers: [String] = []
        for await line in lines { answers.append(line) }
        return answers.sorted()
    }

    private static let requests = {
        var requests = WorkerRequests()
        requests.on("double") { .integer(2 * ($0["value"]?.integer ?? 0)) }
        requests.on("fail") { _ in throw WorkerRefusal("not today") }
        return requests
    }()

    @Test func answersByID() async throws {
        let input = """
            {"ask":"double","id":1,"value":21}
            {"ask":"fail","id":2}
            {"ask":"none","id":3}
            {"value":4,"id":4,"ask":"double"}
            """
        #expect(
            try await answers(to: input) == [
                #"{"answer":1,"result":42}"#, #"{"answer":2,"error":"not today"}"#,
                #"{"answer":3,"error":"this worker cannot answer \"none\" now"}"#, #"{"answer":4,"result":8}"#,
            ])
    }

    @Test(arguments: [
        "", "\n\n", "{", "[]", "null", #"{"ask":"double"}"#, #"{"id":1}"#, #"{"ask":1,"id":1}"#,
        #"{"ask":"double","id":"1"}"#,
        #"{"ask":"double","id":99999999999999999999}"#, "\u{0}\u{1}",
    ])
    func skipsInvalidLines(line: String) async throws {
        let good = #"{"ask":"double","id":7,"value":1}"#
        #expect(try await answers(to: "\(line)\n\(good)\n") == [#"{"answer":7,"result":2}"#])
    }

    @Test func skipsOverlongLines() async throws {
        let long = #"{"ask":"double","id":1,"x":""# + String(repeating: "x", count: 5 << 20) + #""}"#
        let input = long + "\n" + #"{"ask":"double","id":2,"value":3}"# + "\n"
        #expect(try await answers(to: input) == [#"{"answer":2,"result":6}"#])
    }

    @Test func slowAnswerDoesNotBlockOthers() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Never.self)
        var requests = WorkerRequests()
        requests.on("slow") { _ in
            for await _ in gate {}
            return "slow"
        }
        requests.on("quick") { _ in
            open.finish()
            return "quick"
        }
        let input = #"{"ask":"slow","id":1}"# + "\n" + #"{"ask":"quick","id":2}"# + "\n"
        #expect(
            try await answers(to: input, requests) == [
                #"{"answer":1,"result":"slow"}"#, #"{"answer":2,"result":"quick"}"#,
            ])
    }

    /// Runs a worker with these answers and this input; collects its output lines.
    private func serving(
        _ requests: WorkerRequests, clock: any CoreClock,
        _ body: (FileHandle, _ next: @escaping @Sendable () async -> String?) async throws -> Void
    ) async throws {
        let pipe = Pipe()
        let (lines, written) = AsyncStream.makeStream(of: String.self)
        let channel = SupervisorChannel(
            descriptor: pipe.fileHandleForReading.fileDescriptor, clock: clock, write: { written.yield($0) },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        channel.install(requests)
        async let serving: Void = channel.serve()
        try await body(pipe.fileHandleForWriting) {
            for await line in lines { return line }
            return nil
        }
        try pipe.fileHandleForWriting.close()
        await serving
    }

    /// Answers `mute` when the gate opens, whether or not it is cancelled, and `health` at once.
    private func requests(_ gate: Gate) -> WorkerRequests {
        var requests = WorkerRequests()
        requests.on("mute") { _ in
            await gate.wait()
            return .null
        }
        requests.on("health") { _ in "well" }
        return requests
    }

    /// Opens once; cancellation does not wake waiters.
    private final class Gate: Sendable {
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>([])

        func wait() async {
            await withCheckedContinuation { continuation in
                let isOpen = waiting.withLock { waiting in
                    waiting?.append(continuation)
                    return waiting == nil
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            for continuation in waiting.withLock({ waiting in
                defer { waiting = nil }
                return waiting ?? []
            }) { continuation.resume() }
        }
    }

    private func ask(_ name: String, _ ids: some Sequence<Int>, _ more: String = "") -> Data {
        Data(ids.map { "{\"ask\":\"\(name)\",\"id\":\($0)\(more)}\n" }.joined().utf8)
    }

    @Test func lateAnswersFreeTheirSlots() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        try await serving(requests(gate), clock: clock) { input, next in
            try input.write(contentsOf: ask("mute", 0..<17))
            #expect(await next() == #"{"answer":16,"error":"too many concurrent questions"}"#)
            try await clock.untilSleepers(16)
            clock.advance(by: .seconds(30))
            var refused: Set<String?> = []
            for _ in 0..<16 { refused.insert(await next()) }
            #expect(refused == Set((0..<16).map { #"{"answer":\#($0),"error":"no answer within 30.0 seconds"}"# }))
            try input.write(contentsOf: ask("mute", [17]))
            try await clock.untilSleepers(1)
            gate.open()
            #expect(await next() == #"{"answer":17,"result":null}"#)
        }
    }

    /// Other questions, including health questions of clients, do not use up its quota.
    @Test func livenessChecksHaveOwnQuota() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        var requests = requests(gate)
        let (questions, count) = AsyncStream.makeStream(of: Void.self)
        requests.on("health") { question in
            guard question["signOfLife"] == nil else { return "well" }
            count.yield()
            await gate.wait()
            return "late"
        }
        try await serving(requests, clock: clock) { input, next in
            try input.write(contentsOf: ask("mute", 0..<16))
            try input.write(contentsOf: ask("health", 16..<32))
            var iterator = questions.makeAsyncIterator()
            for _ in 0..<16 { await iterator.next() }
            try input.write(contentsOf: ask("health", [32]))
            #expect(await next() == #"{"answer":32,"error":"too many concurrent questions"}"#)
            try input.write(contentsOf: ask("health", [33], #","signOfLife":true"#))
            #expect(await next() == #"{"answer":33,"result":"well"}"#)
            gate.open()
        }
    }
}

extension ManualClock {
    fileprivate func untilSleepers(_ count: Int) async throws {
        try await eventually("\(count) sleepers") { self.sleeperCount >= count }
    }
}
