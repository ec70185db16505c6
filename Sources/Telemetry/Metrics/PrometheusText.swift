/// The Prometheus text format, version 0.0.4.
package enum PrometheusText {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// Renders families in the given order, each with its HELP and TYPE.
    package static func render(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for series in family.series { append(series, of: family, to: &text) }
        }
        return text
    }

    private static func append(_ series: MetricFamily.Series, of family: MetricFamily, to text: inout String) {
        guard family.kind == .histogram else {
            text += "\(family.name)\(braces(series.labels)) \(number(series.value))\n"
            return
        }
        let bounds = family.bounds + [.infinity]
        for (bound, count) in zip(bounds, series.buckets) {
            let labels = series.labels + [.init("le", number(bound))]
            text += "\(family.name)_bucket\(braces(labels)) \(count)\n"
        }
        text += "\(family.name)_sum\(braces(series.labels)) \(number(series.value))\n"
        text += "\(family.name)_count\(braces(series.labels)) \(series.buckets.last ?? 0)\n"
    }

    private static func braces(_ labels: [MetricFamily.Label]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quotes: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Formats a number for Go's `ParseFloat`; integers without a fraction.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
        return "\(value)"
    }
}
