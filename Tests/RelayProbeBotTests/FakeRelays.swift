public import BotKit
import ProbeReports
import Synchronization

/// Reports scripted faults of relays, and records probe requests, announcements and metrics.
final class FakeRelays: BotRelayProbes, BotMetrics {
    private let faults: [RelayProbeReport.Fault]
    private let requests = Mutex<[RelayProbeRequest]>([])
    private let announced = Mutex<[RelayAnnouncement]>([])
    private let gauges = Mutex<[String: Double]>([:])
    /// Seconds that the relays' clocks are ahead; nil leaves the clock out of reports.
    let clockOffset = Mutex<Double?>(nil)
    /// Whether probes throw `CancellationError`.
    let isCancelled = Mutex(false)

    init(faults: [RelayProbeReport.Fault] = []) { self.faults = faults }

    var probeRequests: [RelayProbeRequest] { requests.withLock { $0 } }
    var announcements: [RelayAnnouncement] { announced.withLock { $0 } }
    /// By name and labels, as in `probe_success{target=relay.example:443}`.
    var metrics: [String: Double] { gauges.withLock { $0 } }

    var services: BotServices {
        var services = BotServices(metrics: self)
        services.relayProbes = self
        return services
    }

    func probe(_ request: RelayProbeRequest) async throws -> RelayProbeReport {
        requests.withLock { $0.append(request) }
        if isCancelled.withLock({ $0 }) { throw CancellationError() }
        var report = Self.report(request.relay, faults)
        report.clockOffset = clockOffset.withLock { $0 }
        if report.clockOffset != nil { report.phases.append(.init(.clock, .failed, .milliseconds(1), "is off")) }
        return report
    }

    static func report(_ relay: RelayURL, _ faults: [RelayProbeReport.Fault]) -> RelayProbeReport {
        var report = RelayProbeReport(relay)
        report.phases = [
            .init(.dns, .passed, .milliseconds(2), "192.0.2.1"), .init(.tls, .skipped, .zero, "ws:// has none"),
            .init(.size, faults.isEmpty ? .skipped : .unreached, .zero, "no event was accepted"),
            .init(.readback, faults.isEmpty ? .passed : .failed, .milliseconds(30), "…"),
        ]
        report.faults = faults
        report.duration = .milliseconds(40)
        report.isReadBack = faults.isEmpty
        return report
    }

    func announce(_ announcement: RelayAnnouncement) async throws(BotError) {
        announced.withLock { $0.append(announcement) }
    }

    func set(_ sample: MetricSample) { gauges.withLock { $0[Self.key(sample)] = sample.value } }
    func remove(_ sample: MetricSample) { gauges.withLock { $0[Self.key(sample)] = nil } }

    private static func key(_ sample: MetricSample) -> String {
        let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        return "\(sample.name){\(labels)}"
    }

    func observe(_ sample: MetricSample) {}
    func add(_ sample: MetricSample) {}

    static let losesEvents = RelayProbeReport.Fault(
        .silentDrop, .readback, .error, "acknowledges events, but does not return them", advice: "use another relay")
}

extension BotSettings: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: BotSettings...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, BotSettings)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
