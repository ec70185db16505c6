/// A deliberate fault of the run.
public struct LoadFault: Codable, Equatable, Sendable {
    /// When it began, in seconds of the run.
    public var from: Double
    /// When it ended, or is planned to end; nil for an instantaneous fault (agents restarted).
    public var to: Double?
    /// The action: `relay down`.
    public var action: String
    /// The target: `ws://127.0.0.1:7777`, `6 agents`.
    public var target: String

    public init(from: Duration, to: Duration? = nil, action: String, target: String) {
        self.from = from.loadNanoseconds.loadSeconds
        self.to = to?.loadNanoseconds.loadSeconds
        self.action = action
        self.target = target
    }
}

/// A stage of the plan, and its actual times.
public struct LoadStage: Codable, Equatable, Sendable {
    /// The planned load: `send 20/s`.
    public var name: String
    /// In seconds of the run.
    public var from: Double
    public var to: Double

    public init(name: String, from: Duration, to: Duration) {
        self.name = name
        self.from = from.loadNanoseconds.loadSeconds
        self.to = to.loadNanoseconds.loadSeconds
    }
}
