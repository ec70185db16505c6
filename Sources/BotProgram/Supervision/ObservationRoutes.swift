import Foundation
import Supervisor
import Synchronization
import Telemetry

/// The endpoints of a supervisor and its workers: `/livez`, `/readyz`, `/startupz` and `/metrics`.
///
/// Workers are queried on each request; the only state is the set of accounts that have started.
final class ObservationRoutes: Sendable {
    /// Returns the accounts, and whether each should be running.
    typealias Accounts = @Sendable () async -> [(name: String, isExpected: Bool)]

    /// Queries a worker, by account, question and timeout.
    typealias Ask = @Sendable (String, String, Duration) async throws(SupervisorError) -> Data

    /// A worker's health report; empty while the worker starts.
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
        /// Whether the worker runs but does not answer, which a restart may fix.
        var isStuck = false
        var hasBegun = false
        /// Whether the worker should be running; others do not affect readiness.
        var isExpected = true

        private enum CodingKeys: CodingKey { case account, ready, checks }
    }

    private struct Page: Encodable {
        var ready: Bool
        var accounts: [Account]
    }

    private let accounts: Accounts
    private let registry: MetricRegistry
    private let patience: Duration
    private let ask: Ask
    private let begun = Mutex<Set<String>>([])

    /// - Parameters:
    ///   - accounts: the accounts of the configuration, in its order; a reload may change them.
    ///   - patience: the time that a worker has to answer.
    init(
        accounts: @escaping Accounts, registry: MetricRegistry, patience: Duration = .seconds(8), ask: @escaping Ask
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

    /// Returns 200 if the supervisor and every running worker answer.
    private func live() async -> HTTPResponse {
        let reports = await reports()
        return page(reports, isGood: !reports.contains(where: \.isStuck))
    }

    /// Returns 200 if every check of every account that should be running passes.
    private func ready() async -> HTTPResponse {
        let reports = await reports()
        return page(reports, isGood: Self.isReady(reports))
    }

    private static func isReady(_ reports: [Account]) -> Bool { reports.allSatisfy { $0.ready || !$0.isExpected } }

    /// Returns 200 once every account's worker has been running: with its state open and answering.
    private func started() async -> HTTPResponse {
        let accounts = await accounts().filter(\.isExpected).map(\.name)
        if begun.withLock({ !$0.isSuperset(of: accounts) }) { _ = await reports() }
        let missing = begun.withLock { begun in accounts.filter { !begun.contains($0) } }
        guard !missing.isEmpty else { return .text("started\n") }
        return .text("not started yet: \(missing.joined(separator: ", "))\n", status: 503)
    }

    private func page(_ reports: [Account], isGood: Bool) -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Strings and booleans can always be encoded as JSON.
        let body = try? encoder.encode(Page(ready: Self.isReady(reports), accounts: reports))
        return .json((body ?? Data()) + Data("\n".utf8), status: isGood ? 200 : 503)
    }
}

// MARK: Workers

extension ObservationRoutes {
    /// Returns the health of the accounts in the order of the configuration.
    func reports() async -> [Account] {
        let reports = await accounts().concurrentMap { account in
            account.isExpected ? await self.report(of: account.name) : Self.ended(account.name)
        }
        begun.withLock { $0.formUnion(reports.filter(\.hasBegun).map(\.account)) }
        return reports
    }

    private static func ended(_ account: String) -> Account {
        let check = Check(check: "worker", ok: true, message: "exited as expected")
        return Account(account: account, ready: false, checks: [check], isExpected: false)
    }

    private func report(of account: String) async -> Account {
        func failed(_ message: String, isStuck: Bool = false) -> Account {
            let check = Check(check: "worker", ok: false, message: message)
            return Account(account: account, ready: false, checks: [check], isStuck: isStuck)
        }
        do {
            let report = try JSONDecoder().decode(Report.self, from: try await ask(account, "health", patience))
            guard let checks = report.checks else { return failed("starting") }
            let worker = Check(check: "worker", ok: true, message: "responding")
            return Account(
                account: account, ready: report.ready ?? false, checks: [worker] + checks, hasBegun: true)
        } catch let error as SupervisorError {
            return failed("\(error.message)", isStuck: error.code == .noAnswer)
        } catch {
            return failed("cannot decode its response")
        }
    }

    /// Returns the metrics of this process, and those of every worker that answers, labelled with its account.
    func metrics() async -> [MetricFamily] {
        let accounts = await accounts().filter(\.isExpected)
        let exports = await accounts.concurrentMap { (account, _) -> (String, [MetricFamily]?) in
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
}
