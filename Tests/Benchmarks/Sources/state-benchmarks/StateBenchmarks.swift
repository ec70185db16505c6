import CAllocations
import Foundation
import Logging
import Nostr
import PikaCore

/// Measures the cost of a state change, from `dispatch` to the update that reports its outcome, by number of chats.
///
///     state-benchmarks [CHATS…]        default: 10, 100 and 1000; prints Markdown
///
/// Each chat has 1,000 stored messages and the open one shows 500. A reader always holds the newest snapshot, so that
/// nothing can be changed in place.
@main
enum StateBenchmarks {
    static func main() async throws {
        let counts = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        Output.line("| chats | what changes | median µs | p99 µs | snapshots a second | kB allocated a snapshot |")
        Output.line("| --- | --- | --- | --- | --- | --- |")
        // Off the main thread: hops from it cost more than the work.
        try await Task.detached {
            for chats in counts.isEmpty ? [10, 100, 1000] : counts { try await Self.measure(chats) }
        }.value
    }

    private static func measure(_ chats: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let fixture = try await Fixture(chats: chats, folder: folder.path)
        let configuration = CoreConfiguration(
            relays: [try RelayURL(Fixture.relay)], publishesKeyPackage: false, selfUpdate: .never)
        let core = AppCore(
            account: fixture.account, configuration: configuration,
            ports: CorePorts(
                transport: PerfectTransport(), store: fixture.store, clock: SystemClock(),
                logger: Logger(label: "state", factory: { _ in SwiftLogNoOpLogHandler() })))
        let updates = core.updates()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await core.run() }
            var reader = Reader(core: core, updates: updates)
            try await reader.converse(chats)
            group.cancelAll()
        }
    }
}

/// Dispatches and reads, as an app does.
private struct Reader {
    private let core: AppCore
    private var updates: AsyncStream<AppUpdate>.Iterator
    private var newest = AppState()
    /// The number of snapshots received.
    private var received = 0
    private var requests = 0

    init(core: AppCore, updates: AsyncStream<AppUpdate>) {
        self.core = core
        self.updates = updates.makeAsyncIterator()
    }

    mutating func converse(_ chats: Int) async throws {
        try await self.perform(.clearToast)
        guard let chat = self.newest.chatList.first?.chatID, self.newest.chatList.count == chats else {
            throw Failure(reason: "expected all chats in the state")
        }
        try await self.perform(.openChat(chatID: chat))
        while self.newest.currentChat?.messages.count ?? 0 < 50 { try await self.next() }
        try await self.perform(.loadOlderMessages(chatID: chat, limit: 450))
        guard self.newest.currentChat?.messages.count == 500 else {
            throw Failure(reason: "expected 500 shown messages")
        }
        let all = self.newest.chatList.map(\.chatID)
        try await self.row(chats, "nothing but `rev`", 2000) { _ in .clearToast }
        try await self.row(chats, "a chat is archived (durable)", 1000) {
            .archiveChat(chatID: all[$0 % all.count], $0 / all.count % 2 == 0)
        }
        try await self.row(chats, "a message in the open chat (durable)", 1000) {
            .sendMessage(chatID: chat, .text("number \($0)"))
        }
        try await self.burst(chats, 1000) { .sendMessage(chatID: all[$0 % all.count], .text("at once \($0)")) }
    }

    /// Performs the actions one at a time, each until its outcome is reported.
    private mutating func row(
        _ chats: Int, _ name: String, _ count: Int, _ action: (Int) -> AppAction
    ) async throws {
        for number in 0..<50 { try await self.perform(action(number)) }
        let clock = ContinuousClock()
        var times: [Double] = []
        let before = self.received
        let bytes = allocated_bytes()
        let start = clock.now
        for number in 50..<50 + count {
            let start = clock.now
            try await self.perform(action(number))
            times.append((clock.now - start) / .microseconds(1))
        }
        let seconds = (clock.now - start) / .seconds(1)
        let allocated = Double(allocated_bytes() - bytes)
        // Deliveries make snapshots of their own.
        let snapshots = Double(self.received - before)
        Self.print(chats, name, times, rate: snapshots / seconds, kilobytes: allocated / snapshots / 1000)
    }

    /// Dispatches all actions at once and measures the time until each outcome is reported.
    private mutating func burst(_ chats: Int, _ count: Int, _ action: (Int) -> AppAction) async throws {
        let clock = ContinuousClock()
        let before = self.received
        let bytes = allocated_bytes()
        let start = clock.now
        for number in 0..<count {
            self.core.dispatch(action(number), request: RequestID(rawValue: "burst \(number)"))
        }
        var times: [Double] = []
        while times.count < count {
            if try await self.next() != nil { times.append((clock.now - start) / .microseconds(1)) }
        }
        let seconds = (clock.now - start) / .seconds(1)
        let snapshots = Double(self.received - before)
        Self.print(
            chats, "\(count) messages at once, into all chats", times, rate: snapshots / seconds,
            kilobytes: Double(allocated_bytes() - bytes) / snapshots / 1000)
    }

    private mutating func perform(_ action: AppAction) async throws {
        self.requests += 1
        let request = RequestID(rawValue: "\(self.requests)")
        self.core.dispatch(action, request: request)
        while true {
            guard let (ended, outcome) = try await self.next(), ended == request else { continue }
            if case .failed(let error) = outcome { throw error }
            return
        }
    }

    /// Waits for the next update; returns the action that it finishes, if any, and its outcome.
    @discardableResult
    private mutating func next() async throws -> (RequestID, ActionOutcome)? {
        guard let update = await self.updates.next(isolation: nil) else {
            throw Failure(reason: "the core has stopped")
        }
        switch update {
        case .fullState(let state):
            self.newest = state
            self.received += 1
            return nil
        case .finished(_, let request, let outcome): return (request, outcome)
        case .delivery: return nil
        }
    }

    private static func print(_ chats: Int, _ name: String, _ times: [Double], rate: Double, kilobytes: Double) {
        let sorted = times.sorted()
        func percentile(_ share: Double) -> String {
            String(format: "%.0f", sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))])
        }
        Output.line(
            "| \(chats) | \(name) | \(percentile(0.5)) | \(percentile(0.99)) | \(Int(rate)) "
                + "| \(String(format: "%.1f", kilobytes)) |")
    }
}

/// Standard output without buffering.
private enum Output {
    static func line(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }
}
