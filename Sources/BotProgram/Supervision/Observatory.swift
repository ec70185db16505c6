import Foundation
import Supervisor
import Synchronization
import Telemetry

/// What is served of a supervisor and its workers: `/livez`, `/readyz`, `/startupz` and `/metrics`.
///
/// Everything is asked when somebody wants to know it; nothing is remembered but which accounts have begun.
final class Observatory: Sendable {
    /// Asks a worker: its account, the question, and how long it may take.
    typealias Ask = @Sendable (String, String, Duration) async throws(SupervisorError) -> Data

    /// What a worker says about itself; nothing of it while it starts.
    private struct Report: Decodable {
        var ready: Bool?
        var checks: [Check]?
    }

    struct Check: Codable, Hashable, Sendable {
        var check: String
        var relay: String?
        var ok: Bool
        var message: String
    }

    struct Account: Codable, Hashable, Sendable {
        var account: String
        var ready: Bool
        var checks: [Check]
        /// Whether it runs and does not answer, which is what a restart may help against.
        var isStuck = false
        var hasBegun = false

        private enum CodingKeys: CodingKey { case account, ready, checks }
    }

    private struct Page: Encodable {
        var ready: Bool
        var accounts: [Account]
    }

    private let accounts: @Sendable () async -> [String]
    private let registry: MetricRegistry
    private let patience: Duration
    private let ask: Ask
    private let begun = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - accounts: those that are to be at work, in the order of the configuration; a reload may change them.
    ///   - patience: how long a worker may take to answer.
    init(
        accounts: @escaping @Sendable () async -> [String], registry: MetricRegistry, patience: Duration = .seconds(8),
        ask: @escaping Ask
    ) {
        self.accounts = accounts
        self.registry = registry
        self.patience = patience
        self.ask = ask
    }

    var routes: [String: HTTPEndpoint.Route] {
        [
            "/livez": { _ in await self.live() }, "/readyz": { _ in await self.ready() },
            "/startupz": { _ in await self.started() }, "/metrics": { _ in .metrics(await self.metrics()) },
        ]
    }

    /// 200 while the supervisor and every worker that runs answer.
    private func live() async -> HTTPResponse {
        let reports = await reports()
        return page(reports, isGood: !reports.contains(where: \.isStuck))
    }

    /// 200 while every check of every account passes.
    private func ready() async -> HTTPResponse {
        let reports = await reports()
        return page(reports, isGood: reports.allSatisfy(\.ready))
    }

    /// 200 from when every account's worker has once been at work: its state is open and it answers.
    private func started() async -> HTTPResponse {
        let accounts = await accounts()
        if begun.withLock({ !$0.isSuperset(of: accounts) }) { _ = await reports() }
        let missing = begun.withLock { begun in accounts.filter { !begun.contains($0) } }
        guard !missing.isEmpty else { return .text("started\n") }
        return .text("not started yet: \(missing.joined(separator: ", "))\n", status: 503)
    }

    private func page(_ reports: [Account], isGood: Bool) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and truth values always have a JSON form.
        let body = try? encoder.encode(Page(ready: reports.allSatisfy(\.ready), accounts: reports))
        return .json((body ?? Data()) + Data("\n".utf8), status: isGood ? 200 : 503)
    }
}

// MARK: Workers

extension Observatory {
    /// In the order of the configuration.
    func reports() async -> [Account] {
        let reports = await each { account in await self.report(of: account) }
        begun.withLock { $0.formUnion(reports.filter(\.hasBegun).map(\.account)) }
        return reports
    }

    private func report(of account: String) async -> Account {
        func failed(_ message: String, isStuck: Bool = false) -> Account {
            let check = Check(check: "worker", ok: false, message: message)
            return Account(account: account, ready: false, checks: [check], isStuck: isStuck)
        }
        do {
            let report = try JSONDecoder().decode(Report.self, from: try await ask(account, "health", patience))
            guard let checks = report.checks else { return failed("it is starting") }
            let worker = Check(check: "worker", ok: true, message: "it answers")
            return Account(
                account: account, ready: report.ready ?? false, checks: [worker] + checks, hasBegun: true)
        } catch let error as SupervisorError {
            return failed("\(error.message)", isStuck: error.code == .noAnswer)
        } catch {
            return failed("its answer cannot be read")
        }
    }

    /// Those of this process, and those of every worker that answers, with its account as a label.
    func metrics() async -> [MetricFamily] {
        let exports = await each { account -> (String, [MetricFamily]?) in
            do {
                let answer = try await self.ask(account, "metrics", self.patience)
                return (account, try JSONDecoder().decode([MetricFamily].self, from: answer))
            } catch {
                return (account, nil)
            }
        }
        let up = exports.map { account, families in
            [MetricFamily(MetricCatalogue.workerUp, series: [.init(value: families == nil ? 0 : 1)])]
                .map { $0.labelled("account", account) }
        }
        let own = registry.families() + ProcessMetrics.families()
        let workers = exports.map { account, families in (families ?? []).map { $0.labelled("account", account) } }
        return MetricFamily.merged([own] + up + workers)
    }

    /// Asks all at the same time; the answers come in the order of the accounts.
    private func each<Value: Sendable>(_ ask: @escaping @Sendable (String) async -> Value) async -> [Value] {
        let accounts = await accounts()
        return await withTaskGroup(of: (Int, Value).self) { group in
            for (index, account) in accounts.enumerated() { group.addTask { (index, await ask(account)) } }
            var values: [(Int, Value)] = []
            for await value in group { values.append(value) }
            return values.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
