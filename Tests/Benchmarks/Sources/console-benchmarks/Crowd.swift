import ConsolePages
import ConsoleReports
import ConsoleServer
import Synchronization

/// A program with many accounts, each in many chats, which exists only as reports.
final class Crowd: ConsoleBackend {
    private let state: Mutex<ConsoleSnapshot>
    private let readers = Mutex<[AsyncStream<UInt64>.Continuation]>([])
    private let report: AccountReport
    private let detail: ChatDetail

    init(accounts: Int, chats: Int) {
        var snapshot = ConsoleSnapshot()
        snapshot.rev = 1
        snapshot.takenAt = 1_700_000_000
        snapshot.accounts = (0..<accounts).map { Self.account($0, chats: chats) }
        state = Mutex(snapshot)
        var report = AccountReport()
        report.summary = Self.summary(chats: chats)
        report.relays = (0..<3).map { RelayReport(url: "wss://relay\($0).example") }
        report.chats = (0..<chats).map(Self.chat)
        report.chatCount = chats
        report.bots = (0..<3).map { BotReport(name: "bot\($0)") }
        self.report = report
        var detail = ChatDetail(chat: Self.chat(0))
        detail.members = (0..<50).map {
            MemberReport(npub: "npub1\($0)", name: "Member \($0)", isAdmin: false, isSelf: false)
        }
        detail.messages = (0..<ReportLimits.messages).map {
            MessageReport(
                id: "\($0)", sender: "npub1\($0)", at: 1_700_000_000, epoch: 4, kind: 9, isOwn: false,
                delivery: "received")
        }
        self.detail = detail
    }

    /// Every account has answered some more messages.
    func advance() {
        let rev = state.withLock { snapshot -> UInt64 in
            snapshot.rev += 1
            snapshot.takenAt += SampleRing.interval
            for index in snapshot.accounts.indices {
                snapshot.accounts[index].summary?.counters.answered += 3
                let counters = snapshot.accounts[index].summary?.counters
                snapshot.accounts[index].history.append(.init(at: snapshot.takenAt, counters: counters))
            }
            return snapshot.rev
        }
        for reader in readers.withLock({ $0 }) { reader.yield(rev) }
    }

    private static func account(_ number: Int, chats: Int) -> AccountStatus {
        var account = AccountStatus(name: "account-\(number)")
        account.state = "ready"
        account.process = 1
        account.since = 1_699_000_000
        account.summary = summary(chats: chats)
        // Full rings, as after an hour.
        for sample in 0..<SampleRing.capacity {
            var counters = AccountCounters()
            counters.answered = Double(sample * (number % 7))
            counters.received = counters.answered
            account.history.append(.init(at: 1_699_990_000 + Int64(sample) * SampleRing.interval, counters: counters))
        }
        return account
    }

    private static func summary(chats: Int) -> AccountSummary {
        var summary = AccountSummary()
        summary.relays = 3
        summary.connectedRelays = 3
        summary.isReady = true
        summary.chats = chats
        return summary
    }

    private static func chat(_ number: Int) -> ChatReport {
        var chat = ChatReport(id: "chat-\(number)")
        chat.name = "Chat number \(number)"
        chat.members = 12
        chat.epoch = 40
        chat.lastAt = 1_699_999_000
        return chat
    }

    // MARK: ConsoleBackend

    func snapshot() async -> ConsoleSnapshot { state.withLock { $0 } }

    func changes() -> AsyncStream<UInt64> {
        let (numbers, reader) = AsyncStream.makeStream(of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
        readers.withLock { $0.append(reader) }
        return numbers
    }

    func account(_ name: String) async throws(ConsoleError) -> AccountReport { report }
    func chat(_ id: String, of account: String) async throws(ConsoleError) -> ChatDetail { detail }
    func why(_ query: WhyPage.Query) async -> [WhyPage.Answer] { [] }
    func logs(_ filter: LogsPage.Filter, after number: Int, limit: Int) async -> [LogLine] { [] }
    func logChanges() -> AsyncStream<Int> { AsyncStream { $0.finish() } }
    func probes() async -> [LoadPage.Probes] { [] }
    func loadReports() async -> [LoadPage.Report] { [] }

    func configuration() async throws(ConsoleError) -> ConsoleConfigurationState {
        ConsoleConfigurationState(effective: "version: 1\n", preview: .changes([]))
    }

    func validate(_ text: String) async -> ConfigurationPage.Preview { .changes([]) }
    func perform(_ action: ConsoleAction, by viewer: Viewer) async throws(ConsoleError) {}
}
