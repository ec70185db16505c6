import Foundation

/// The seeds of random runs. `PIKABOT_SEEDS=1000` selects the first 1,000, `PIKABOT_SEEDS=17-17` only seed 17.
enum CampaignSeeds {
    private static let bounds = (ProcessInfo.processInfo.environment["PIKABOT_SEEDS"] ?? "")
        .split(separator: "-").compactMap { UInt64($0) }

    /// The requested seeds, or the first of them by default. Known seeds run too if a number of seeds was requested.
    static func requested(orFirst count: UInt64, known: Set<UInt64> = []) -> [UInt64] {
        guard let first = Self.bounds.first else { return Array(1...count) }
        if Self.bounds.count == 2, first <= Self.bounds[1] { return Array(first...Self.bounds[1]) }
        return known.union(1...max(1, first)).sorted()
    }
}
