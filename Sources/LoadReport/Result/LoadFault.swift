/// A fault that was put into the run on purpose.
public struct LoadFault: Codable, Equatable, Sendable {
    /// When it began, in seconds of the run.
    public var from: Double
    /// When it ended, or is to end while it lasts; nil when it was over at once (agents started anew).
    public var to: Double?
    /// What was done: `relay down`.
    public var action: String
    /// To whom: `ws://127.0.0.1:7777`, `6 agents`.
    public var target: String

    public init(from: Duration, to: Duration? = nil, action: String, target: String) {
        self.from = from.loadNanoseconds.loadSeconds
        self.to = to?.loadNanoseconds.loadSeconds
        self.action = action
        self.target = target
    }
}

/// A part of the plan, and when it really ran.
public struct LoadStage: Codable, Equatable, Sendable {
    /// What it is to do: `send 20/s`.
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
