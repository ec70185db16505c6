/// The reported percentiles.
package enum LoadPercentile: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    case p10, p25, p50, p66, p75, p80, p90, p95, p98, p99
    case p99d9 = "p99.9"
    case p99d99 = "p99.99"

    /// Percentage of samples that are at most as large.
    package var percent: Double {
        switch self {
        case .p10: 10
        case .p25: 25
        case .p50: 50
        case .p66: 66
        case .p75: 75
        case .p80: 80
        case .p90: 90
        case .p95: 95
        case .p98: 98
        case .p99: 99
        case .p99d9: 99.9
        case .p99d99: 99.99
        }
    }
}
