/// The results of an account's scheduled probes, in the terms of the metrics.
package struct ProbeSamples: Codable, Hashable, Sendable {
    package struct Sample: Codable, Hashable, Sendable {
        package var name: String
        package var labels: [String: String]
        package var value: Double

        package init(name: String, labels: [String: String], value: Double) {
            self.name = name
            self.labels = labels
            self.value = value
        }
    }

    package var samples: [Sample]

    package init(samples: [Sample]) {
        self.samples = samples
    }
}
