/// A value of the run that can go up and down, recorded over time.
package enum LoadGauge: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    /// Running agents.
    case agents
    /// Groups that exist.
    case groups
    /// Open connections to relays.
    case connections
    /// Resident memory of the generator's process, in bytes.
    case memory
    /// CPU usage of the generator; 1 is one processor fully used.
    case processors
}
