/// A number of the run that goes up and down, kept over time.
public enum LoadGauge: String, CaseIterable, Codable, CodingKeyRepresentable, Sendable {
    /// Agents that run.
    case agents
    /// Groups that exist.
    case groups
    /// Open connections to relays.
    case connections
    /// Memory of the generator's process, in bytes.
    case memory
    /// Processors that the generator keeps busy: 1 is one of them, wholly.
    case processors
}
