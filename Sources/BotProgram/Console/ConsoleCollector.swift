import ConsolePages
import ConsoleReports
import Foundation
import Nostr
import Supervisor

/// Keeps the state of all accounts for the console: asks the workers regularly, and sooner after an event.
actor ConsoleCollector {
    /// Between two questions to all workers, and between two states at least.
    private static let interval = Duration.seconds(5)
    private static let pause = Duration.milliseconds(500)
    /// The workers that are asked at the same time, and the time that each has.
    private static let width = 16
    static let patience = Duration.seconds(3)
    private static let maximumActions = 50

    private let supervisor: Supervisor<ContinuousClock>
    private let reloader: ConfigurationReloader
    private let wakes: ConsoleWakes
    private let program: ConsoleProgram
    private var state = ConsoleSnapshot()
    private var actions: [ActionRecord] = []

    init(
        _ supervisor: Supervisor<ContinuousClock>, _ reloader: ConfigurationReloader, _ wakes: ConsoleWakes,
        _ program: ConsoleProgram
    ) {
        self.supervisor = supervisor
        self.reloader = reloader
        self.wakes = wakes
        self.program = program
    }

    /// The newest state.
    var snapshot: ConsoleSnapshot { state }

    /// Collects until the task is cancelled.
    func run() async {
        let due = wakes.listen()
        await withDiscardingTaskGroup { group in
            group.addTask { [wakes] in
                while !Task.isCancelled {
                    wakes.wakeAll()
                    try? await Task.sleep(for: Self.interval)
                }
            }
            for await _ in due {
                await collect()
                guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
            }
            group.cancelAll()
        }
    }

    /// Adds an action to the list on the page.
    func note(_ action: ActionRecord) {
        actions.insert(action, at: 0)
        if actions.count > Self.maximumActions { actions.removeLast() }
        wakes.wakeAll()
    }

    // MARK: Collecting

    private func collect() async {
        let due = wakes.take()
        let workers = await supervisor.status
        let asked = workers.filter { $0.pid != nil && (due.all || due.accounts.contains($0.name)) }.map(\.name)
        let answers = await ask(asked)
        let now = UnixTime.systemTime.seconds
        var next = ConsoleSnapshot()
        next.rev = state.rev + 1
        next.takenAt = now
        next.process = program.process
        next.uptime = program.uptime
        next.version = program.version
        next.file = program.file
        next.shard = program.shard
        next.actions = actions
        next.reload = ReloadStatus(await reloader.lastOutcome, needsRestart: await reloader.needsRestart)
        // The status again: asking took time, in which a worker may have ended.
        next.accounts = await supervisor.status.map { worker in
            var account = AccountStatus(worker, now: now, earlier: state.account(worker.name))
            switch answers[worker.name] {
            case .success(let summary)? where account.isRunning:
                account.summary = summary
                account.silence = nil
            case .failure(let error)? where account.isRunning:
                account.summary = nil
                account.silence = error.message
            default: break
            }
            if due.all { account.history.append(.init(at: now, counters: account.summary?.counters)) }
            return account
        }
        state = next
        wakes.announce(next.rev)
    }

    private func ask(_ accounts: [String]) async -> [String: Result<AccountSummary, SupervisorError>] {
        await withTaskGroup(of: (String, Result<AccountSummary, SupervisorError>).self) { group in
            var waiting = accounts.makeIterator()
            func askNext() {
                guard let account = waiting.next() else { return }
                group.addTask { [supervisor] in
                    do throws(SupervisorError) {
                        return (
                            account, .success(try await supervisor.report(WorkerReport(part: "summary"), of: account))
                        )
                    } catch { return (account, .failure(error)) }
                }
            }
            for _ in 0..<Self.width { askNext() }
            var answers: [String: Result<AccountSummary, SupervisorError>] = [:]
            for await (account, answer) in group {
                answers[account] = answer
                askNext()
            }
            return answers
        }
    }
}

/// What does not change while the program runs.
struct ConsoleProgram: Sendable {
    let process: Int32
    let version: String
    let file: String
    let shard: String?
    private let began = ContinuousClock.now

    init(process: Int32, version: String, file: String, shard: String?) {
        self.process = process
        self.version = version
        self.file = file
        self.shard = shard
    }

    /// Seconds since the start.
    var uptime: Int64 { (ContinuousClock.now - began).components.seconds }
}

extension AccountStatus {
    /// - Parameter earlier: the account in the state before, whose report still counts if the same process runs.
    fileprivate init(_ worker: WorkerStatus, now: Int64, earlier: AccountStatus?) {
        self.init(name: worker.name)
        state = worker.state
        process = worker.pid
        since = worker.age.map { now.clampedSubtracting($0.components.seconds) }
        restarts = worker.restarts
        lastExit = worker.lastExit?.description
        reason = worker.reason
        needsRestart = worker.needsRestart
        isExpected = worker.isExpected
        guard let earlier else { return }
        history = earlier.history
        guard process != nil, earlier.process == process else { return }
        summary = earlier.summary
        silence = earlier.silence
    }
}

extension ReloadStatus {
    fileprivate init(_ outcome: ReloadOutcome?, needsRestart: [String]) {
        self.init()
        self.needsRestart = needsRestart
        guard let outcome else { return }
        at = outcome.time
        isSuccess = outcome.isSuccess
        applied = outcome.applied
        waiting = outcome.waiting
        refused = outcome.refused
        problems = outcome.problems.map(FileProblem.init)
        if problems.isEmpty { refused += outcome.problemTexts }
    }
}
