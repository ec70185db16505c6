import Foundation
import Logging
import Nostr
import Testing

@testable import BotRuntime

@Suite(.timeLimit(.minutes(15)))
struct SupervisorChannelTests {
    /// What a worker that is asked this way writes, in order of its numbers, until its input ends.
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

    @Test func answersByNumber() async throws {
        let input = """
            {"ask":"double","id":1,"value":21}
            {"ask":"fail","id":2}
            {"ask":"none","id":3}
            {"value":4,"id":4,"ask":"double"}
            """
        #expect(
            try await answers(to: input) == [
                #"{"answer":1,"result":42}"#, #"{"answer":2,"error":"not today"}"#,
                #"{"answer":3,"error":"this worker cannot be asked \"none\" now"}"#, #"{"answer":4,"result":8}"#,
            ])
    }

    @Test(arguments: [
        "", "\n\n", "{", "[]", "null", #"{"ask":"double"}"#, #"{"id":1}"#, #"{"ask":1,"id":1}"#,
        #"{"ask":"double","id":"1"}"#,
        #"{"ask":"double","id":99999999999999999999}"#, "\u{0}\u{1}",
    ])
    func whatIsNoQuestionIsPassedOver(line: String) async throws {
        let good = #"{"ask":"double","id":7,"value":1}"#
        #expect(try await answers(to: "\(line)\n\(good)\n") == [#"{"answer":7,"result":2}"#])
    }

    @Test func aLineThatIsTooLongIsPassedOverAndTheNextOneIsRead() async throws {
        let long = #"{"ask":"double","id":1,"x":""# + String(repeating: "x", count: 5 << 20) + #""}"#
        let input = long + "\n" + #"{"ask":"double","id":2,"value":3}"# + "\n"
        #expect(try await answers(to: input) == [#"{"answer":2,"result":6}"#])
    }

    @Test func aSlowAnswerHoldsUpNoOther() async throws {
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
}
