/// The part of a load report (`load.json`, `schemaVersion` 1) that the console shows.
package struct LoadRun: Decodable, Sendable, Hashable {
    package struct Run: Decodable, Sendable, Hashable {
        package var name: String
        package var startedAt: String
    }

    package struct Threshold: Decodable, Sendable, Hashable {
        package var key: String
        package var condition: String
        package var passed: Bool
        package var found: String
    }

    package struct Latency: Decodable, Sendable, Hashable {
        package var mean: Double
        package var max: Double
        package var percentiles: [String: Double]
    }

    package struct Operation: Decodable, Sendable, Hashable {
        package var name: String
        package var count: Int
        package var failures: Int
        package var rate: Double
        package var latency: Latency?
    }

    package struct Correctness: Decodable, Sendable, Hashable {
        package var expected: Int
        package var excused: Int
        package var delivered: Int
        package var diverged: Int
    }

    package struct Series: Decodable, Sendable, Hashable {
        package struct Operation: Decodable, Sendable, Hashable {
            package var name: String
            package var count: [Int]
            package var p95: [Double?]
        }

        package var interval: Int
        package var operations: [Operation]
    }

    package var schemaVersion: Int
    package var run: Run
    package var duration: Double
    package var passed: Bool
    package var thresholds: [Threshold]
    package var operations: [Operation]
    package var correctness: Correctness
    package var series: Series

    /// The only version that the console reads.
    package static let supportedVersion = 1
}
