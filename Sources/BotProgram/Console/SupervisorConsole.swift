import BotConfiguration
import ConsolePages
import ConsoleReports
import ConsoleServer
import Foundation
import Nostr
import Supervisor

/// The console's view of a supervisor and its workers.
struct SupervisorConsole: ConsoleBackend {
    /// Lines that are searched for those that pass a filter.
    private static let searchedLines = 5_000
    /// The longest time span of a question, in minutes.
    private static let longestSpan: Int64 = 7 * 24 * 60

    let supervisor: Supervisor<ContinuousClock>
    let reloader: ConfigurationReloader
    let collector: ConsoleCollector
    let wakes: ConsoleWakes
    let reports: LoadReportFolder?

    // MARK: State

    func snapshot() async -> ConsoleSnapshot { await collector.snapshot }

    func changes() -> AsyncStream<UInt64> { wakes.numbers() }

    func account(_ name: String) async throws(ConsoleError) -> AccountReport {
        try await report(WorkerReport(part: "account"), of: name)
    }

    func chat(_ id: String, of account: String) async throws(ConsoleError) -> ChatDetail {
        try await report(WorkerReport(part: "chat", parameters: ["chat": .string(id)]), of: account)
    }

    func probes() async -> [LoadPage.Probes] {
        let answers = await each { account in
            try? await report(WorkerReport<ProbeSamples>(part: "probes"), of: account)
        }
        return answers.compactMap { account, answer in
            guard let samples = answer?.samples, !samples.isEmpty else { return nil }
            return LoadPage.Probes(account: account, samples: samples)
        }
    }

    private func report<Answer>(
        _ report: WorkerReport<Answer>, of account: String
    ) async throws(ConsoleError) -> Answer {
        do throws(SupervisorError) { return try await supervisor.report(report, of: account) } catch {
            throw ConsoleError(.unavailable, error.message)
        }
    }

    /// Asks the running workers at the same time; returns the answers in the order of the configuration.
    private func each<Answer: Sendable>(
        _ ask: @escaping @Sendable (_ account: String) async -> Answer
    ) async -> [(account: String, answer: Answer)] {
        let accounts = await supervisor.status.filter { $0.pid != nil }.map(\.name)
        return await accounts.concurrentMap { (account: $0, answer: await ask($0)) }
    }

    // MARK: Questions

    func why(_ query: WhyPage.Query) async -> [WhyPage.Answer] {
        var parameters: [String: ControlValue] = ["event": .string(query.event)]
        if query.event.isEmpty {
            guard let minutes = Int64(query.minutes), (1...Self.longestSpan).contains(minutes) else {
                return [
                    WhyPage.Answer(
                        account: "", fates: nil, failure: "the time must be 1 to \(Self.longestSpan) minutes")
                ]
            }
            let now = UnixTime.systemTime.seconds
            parameters = ["since": .integer(now.clampedSubtracting(minutes * 60)), "until": .integer(now)]
        }
        let ask = { @Sendable [parameters] (account: String) in await fates(of: account, parameters) }
        if !query.account.isEmpty { return [await ask(query.account)] }
        return await each(ask).map(\.answer)
    }

    private func fates(of account: String, _ parameters: [String: ControlValue]) async -> WhyPage.Answer {
        do throws(SupervisorError) {
            let answer = try await supervisor.ask(account, "why", parameters, within: ConsoleCollector.patience)
            let fates: EventFates = try Supervisor<ContinuousClock>.decoded(answer, from: account)
            return WhyPage.Answer(account: account, fates: fates)
        } catch { return WhyPage.Answer(account: account, fates: nil, failure: error.message) }
    }

    func logs(_ filter: LogsPage.Filter, after number: Int, limit: Int) async -> [LogLine] {
        let lines = supervisor.log.lines(after: number, of: filter.account, Self.searchedLines)
        let shown = lines.map { LogLine(number: $0.number, time: $0.time, account: $0.worker, text: $0.text) }
        return shown.filter(filter.admits).suffix(max(0, limit))
    }

    func logChanges() -> AsyncStream<Int> { supervisor.log.numbers() }

    func loadReports() async -> [LoadPage.Report] { await reports?.newest() ?? [] }

    // MARK: Configuration

    func configuration() async throws(ConsoleError) -> ConsoleConfigurationState {
        ConsoleConfigurationState(effective: await reloader.effectiveText, preview: await preview(nil))
    }

    func validate(_ text: String) async -> ConfigurationPage.Preview { await preview(text) }

    /// The changes that the file would make, or a text in its place.
    private func preview(_ text: String?) async -> ConfigurationPage.Preview {
        do throws(ConfigurationError) {
            return ConfigurationPage.Preview(try await reloader.preview(text: text))
        } catch { return ConfigurationPage.Preview(error) }
    }

    // MARK: Actions

    func perform(_ action: ConsoleAction, by viewer: Viewer) async throws(ConsoleError) {
        var record = ActionRecord(
            at: UnixTime.systemTime.seconds, operatorName: viewer.name, text: action.text)
        do throws(ConsoleError) { try await perform(action) } catch {
            record.failure = error.message
            await collector.note(record)
            throw error
        }
        await collector.note(record)
    }

    private func perform(_ action: ConsoleAction) async throws(ConsoleError) {
        do throws(SupervisorError) {
            switch action {
            case .restart(let account): try await supervisor.restart(account)
            case .stop(let account): try await supervisor.stop(account)
            case .pause(let account, let bot): _ = try await supervisor.ask(account, "pause", ["bot": .string(bot)])
            case .resume(let account, let bot): _ = try await supervisor.ask(account, "resume", ["bot": .string(bot)])
            case .accept(let account, let invitation): try await decide(account, invitation, accept: true)
            case .decline(let account, let invitation): try await decide(account, invitation, accept: false)
            case .reload: break
            }
        } catch { throw ConsoleError(.unavailable, error.message) }
        if action == .reload { try await reload() }
    }

    private func decide(_ account: String, _ invitation: String, accept: Bool) async throws(SupervisorError) {
        _ = try await supervisor.ask(
            account, "invitation", ["wrapper": .string(invitation), "accept": .bool(accept)])
    }

    private func reload() async throws(ConsoleError) {
        switch await reloader.reload() {
        case .failure(_, let message): throw ConsoleError(.unavailable, message)
        case .result, .last, .lines:
            let refused = await reloader.lastOutcome?.refused ?? []
            guard refused.isEmpty else { throw ConsoleError(.unavailable, refused.joined(separator: "\n")) }
        }
    }
}
