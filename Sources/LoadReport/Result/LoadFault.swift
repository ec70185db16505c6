/// A deliberate fault of the run.
package struct LoadFault: Codable, Equatable, Sendable {
    /// The start, in seconds of the run.
    package var from: Double
    /// The actual or planned end, in seconds of the run; nil for an instantaneous fault (agents restarted).
    package var to: Double?
    /// The action: `relay down`.
    package var action: String
    /// The target: `ws://127.0.0.1:7777`, `6 agents`.
    package var target: String

    package init(from: Duration, to: Duration? = nil, action: String, target: String) {
        self.from = from.loadNanoseconds.loadSeconds
        self.to = to?.loadNanoseconds.loadSeconds
        self.action = action
        self.target = target
    }
}

/// A stage of the plan, and its actual times.
package struct LoadStage: Codable, Equatable, Sendable {
    /// The planned load: `send 20/s`.
    package var name: String
    /// The actual start, in seconds of the run.
    package var from: Double
    package var to: Double

    package init(name: String, from: Duration, to: Duration) {
        self.name = name
        self.from = from.loadNanoseconds.loadSeconds
        self.to = to.loadNanoseconds.loadSeconds
    }
}
