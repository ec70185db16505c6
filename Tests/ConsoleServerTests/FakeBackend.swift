import ConsolePages
import ConsoleReports
import Synchronization

@testable import ConsoleServer

/// A program with one account, `a`, that records actions.
final class FakeBackend: ConsoleBackend {
    private let state: Mutex<ConsoleSnapshot>
    private let done = Mutex<[ConsoleAction]>([])

    init() {
        var snapshot = ConsoleSnapshot()
        snapshot.rev = 1
        snapshot.accounts = [AccountStatus(name: "a")]
        state = Mutex(snapshot)
    }

    var actions: [ConsoleAction] { done.withLock { $0 } }

    func change(_ change: (inout ConsoleSnapshot) -> Void) {
        state.withLock { snapshot in
            change(&snapshot)
            snapshot.rev += 1
        }
    }

    func snapshot() async -> ConsoleSnapshot { state.withLock { $0 } }

    func changes() -> AsyncStream<UInt64> { AsyncStream { $0.finish() } }

    func account(_ name: String) async throws(ConsoleError) -> AccountReport {
        throw ConsoleError(.unavailable, "the worker sleeps")
    }

    func chat(_ id: String, of account: String) async throws(ConsoleError) -> ChatDetail {
        throw ConsoleError(.unavailable, "unknown chat")
    }

    func why(_ query: WhyPage.Query) async -> [WhyPage.Answer] { [] }

    func logs(_ filter: LogsPage.Filter, after number: Int, limit: Int) async -> [LogLine] {
        let lines = (1...5).map { LogLine(number: $0, time: 0, account: "a", text: "line \($0)") }
        return lines.filter { $0.number > number && filter.admits($0) }.suffix(limit)
    }

    func logChanges() -> AsyncStream<Int> { AsyncStream { $0.finish() } }

    func probes() async -> [LoadPage.Probes] { [] }

    func loadReports() async -> [LoadPage.Report] { [] }

    func configuration() async throws(ConsoleError) -> ConsoleConfigurationState {
        ConsoleConfigurationState(effective: "version: 1", preview: .changes([]))
    }

    func validate(_ text: String) async -> ConfigurationPage.Preview { .changes([]) }

    func perform(_ action: ConsoleAction, by viewer: Viewer) async throws(ConsoleError) {
        done.withLock { $0.append(action) }
        if case .stop = action { throw ConsoleError(.unavailable, "it does not <stop>") }
    }
}
