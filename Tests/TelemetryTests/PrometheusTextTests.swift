import Testing

@testable import Telemetry

struct PrometheusTextTests {
    @Test func writesEveryKind() {
        let families = [
            MetricFamily(
                name: "a_total", help: "A \\ and\na line, \"quoted\".", kind: .counter,
                series: [.init(labels: [.init("who", "a\\b\"c\nd"), .init("why", "")], value: 3)]),
            MetricFamily(name: "b", help: "B.", kind: .gauge, series: [.init(value: 1.5), .init(value: -2)]),
            MetricFamily(
                name: "c_seconds", help: "C.", kind: .histogram, bounds: [0.005, 1],
                series: [.init(labels: [.init("x", "y")], value: 5.25, buckets: [1, 2, 3])]),
        ]
        #expect(
            PrometheusText.render(families) == #"""
                # HELP a_total A \\ and\na line, "quoted".
                # TYPE a_total counter
                a_total{who="a\\b\"c\nd",why=""} 3
                # HELP b B.
                # TYPE b gauge
                b 1.5
                b -2
                # HELP c_seconds C.
                # TYPE c_seconds histogram
                c_seconds_bucket{x="y",le="0.005"} 1
                c_seconds_bucket{x="y",le="1"} 2
                c_seconds_bucket{x="y",le="+Inf"} 3
                c_seconds_sum{x="y"} 5.25
                c_seconds_count{x="y"} 3

                """#)
    }

    @Test(arguments: [
        (0, "0"), (1_763_740_800, "1763740800"), (0.1, "0.1"), (1e-7, "1e-07"), (1e300, "1e+300"),
        (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
    ])
    func numbersAreParsableByGo(_ value: Double, _ text: String) {
        #expect(PrometheusText.number(value) == text)
    }

    @Test func mergesExportsOfSeveralAccounts() {
        func export(_ value: Double) -> [MetricFamily] {
            [
                MetricFamily(
                    name: "a", help: "A.", kind: .gauge, series: [.init(labels: [.init("x", "1")], value: value)])
            ]
        }
        let own = [MetricFamily(name: "b", help: "B.", kind: .gauge, series: [.init(value: 9)])]
        let foreign = [MetricFamily(name: "a", help: "A.", kind: .counter, series: [.init(value: 7)])]
        let merged = MetricFamily.merged([
            own, export(1).map { $0.labelled("account", "one") }, export(2).map { $0.labelled("account", "two") },
            foreign,
        ])
        #expect(
            PrometheusText.render(merged) == """
                # HELP b B.
                # TYPE b gauge
                b 9
                # HELP a A.
                # TYPE a gauge
                a{account="one",x="1"} 1
                a{account="two",x="1"} 2

                """)
    }
}
