import Foundation
import Telemetry
import Testing

struct MetricFamilyTests {
    @Test func familiesRoundTripThroughJSON() throws {
        let family = MetricFamily(
            name: "bot_handler_duration_seconds", help: "How long.", kind: .histogram, bounds: [0.1, 1],
            series: [.init(labels: [.init("handler", "ping")], value: 1.25, buckets: [1, 2, 2])])
        #expect(try JSONDecoder().decode(MetricFamily.self, from: JSONEncoder().encode(family)) == family)
    }
}
