import Foundation
import Supervisor
import Telemetry

/// Answers `GET /probe?module=…&target=…` like Prometheus' probing exporters: 200 with `probe_success`, whatever the
/// result. A target that no bot's settings allow is 403, an unknown module and a missing parameter are 400, and 503
/// means that no worker could run the probe.
struct ProbeRoute: Sendable {
    /// Sends a probe request to a worker, by account, parameters and timeout.
    typealias Ask = @Sendable (String, [String: ControlValue], Duration) async throws(SupervisorError) -> Data

    /// A worker's answer to a probe request.
    private struct Report: Decodable {
        struct Sample: Decodable {
            var name: String
            var labels: [String: String]
            var value: Double
        }

        var success: Bool?
        var samples: [Sample]?
        var refused: String?
        var modules: [String]?
    }

    /// The timeout of a probe if the request does not specify one.
    static let standardTimeout = Duration.seconds(20)
    /// The number of workers that are queried concurrently, limited so that all connections of the endpoint together
    /// leave capacity for other questions.
    private static let width = 6
    /// The maximum timeout that a request can specify.
    static let longestTimeout = Duration.seconds(28)

    let accounts: @Sendable () async -> [String]
    let ask: Ask

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        guard let module = request["module"], let target = request["target"], !target.isEmpty else {
            return .text("missing query parameters: expected ?module=…&target=…\n", status: 400)
        }
        let timeout = Self.timeout(request)
        let began = ContinuousClock.now
        let reports = await reports(module, target, timeout)
        if let report = reports.lazy.compactMap({ $0 }).first(where: { $0.success != nil }) {
            let took = (ContinuousClock.now - began) / .seconds(1)
            return .metrics(Self.families(report.success == true, took, report.samples ?? []))
        }
        if let refusal = reports.lazy.compactMap({ $0?.refused }).first { return .text("\(refusal)\n", status: 403) }
        if reports.contains(where: { $0 == nil }) {
            return .text("a worker that may have this module does not respond\n", status: 503)
        }
        let modules = Set(reports.flatMap { $0?.modules ?? [] })
        let known =
            modules.isEmpty ? "no running bot answers probes" : "available: \(modules.sorted().joined(separator: ", "))"
        return .text("unknown module; \(known)\n", status: 400)
    }

    /// Returns the answers received until one of the workers has run the probe, in the order of the accounts. Several
    /// workers are queried concurrently, so that a silent one does not block the others, but no more than ``width``.
    private func reports(_ module: String, _ target: String, _ timeout: Duration) async -> [Report?] {
        await withTaskGroup(of: (Int, Report?).self) { group in
            var accounts = await accounts().enumerated().makeIterator()
            let end = ContinuousClock.now + timeout
            func askNext(within left: Duration) {
                guard left > .zero, let (index, account) = accounts.next() else { return }
                group.addTask { (index, await report(of: account, module, target, left)) }
            }
            for _ in 0..<Self.width { askNext(within: timeout) }
            var reports: [(Int, Report?)] = []
            for await answer in group {
                reports.append(answer)
                if answer.1?.success != nil { break }
                askNext(within: end - .now)
            }
            group.cancelAll()
            return reports.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    /// Returns a worker's answer; nil if it is not running or exceeds the timeout.
    private func report(of account: String, _ module: String, _ target: String, _ timeout: Duration) async -> Report? {
        let parameters: [String: ControlValue] = [
            "module": .string(module), "target": .string(target),
            "milliseconds": .integer(Int64(timeout / .milliseconds(1))),
        ]
        guard let answer = try? await ask(account, parameters, timeout + .seconds(1)) else { return nil }
        return try? JSONDecoder().decode(Report.self, from: answer)
    }

    /// Returns the timeout of a Prometheus server, minus half a second for the transfer.
    private static func timeout(_ request: HTTPRequest) -> Duration {
        guard let text = request.scrapeTimeout, let seconds = Double(text), seconds.isFinite, seconds > 0 else {
            return standardTimeout
        }
        return max(.milliseconds(100), min(.seconds(min(seconds, 3600)) - .milliseconds(500), longestTimeout))
    }

    /// Returns the metrics in the order of the catalogue, without those that it does not contain.
    private static func families(_ success: Bool, _ seconds: Double, _ samples: [Report.Sample]) -> [MetricFamily] {
        let own = [("probe_success", success ? 1 : 0), ("probe_duration_seconds", seconds)]
        let all = own.map { Report.Sample(name: $0.0, labels: [:], value: $0.1) } + samples
        return MetricCatalogue.probes.compactMap { description in
            let series = all.filter { $0.name == description.name }.map { sample in
                let labels = description.labels.compactMap { name in
                    sample.labels[name].map {
                        MetricFamily.Label(name, LabelGuard.admits($0) ? $0 : LabelGuard.withheld)
                    }
                }
                return MetricFamily.Series(labels: labels, value: sample.value)
            }
            return series.isEmpty ? nil : MetricFamily(description, series: series)
        }
    }
}
