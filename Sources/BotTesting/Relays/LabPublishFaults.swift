import Synchronization

/// Random faults of publications, each in percent.
public struct LabPublishFaults: Hashable, Sendable {
    /// Lost events; their sender gets a timeout.
    public var lost = 0
    /// Lost answers: the relay has the event, and its sender gets a timeout.
    public var answersLost = 0
    /// Held until ``LabNetwork/release()``.
    public var held = 0
    /// Answers held until ``LabNetwork/release()``; the relay has the event.
    public var answersHeld = 0
    /// Refused temporarily: `rate-limited:`.
    public var limited = 0

    /// Creates fault rates, by default none. A publication has at most one fault, so their sum must be at most 100.
    public init(lost: Int = 0, answersLost: Int = 0, held: Int = 0, answersHeld: Int = 0, limited: Int = 0) {
        self.lost = lost
        self.answersLost = answersLost
        self.held = held
        self.answersHeld = answersHeld
        self.limited = limited
    }

    /// No faults.
    public static let fair = LabPublishFaults()
    /// A poor network: about a third of the publications have a fault.
    public static let rough = LabPublishFaults(lost: 8, answersLost: 8, held: 10, answersHeld: 5, limited: 5)

    fileprivate func verdict(_ draw: Int) -> LabNetwork.Verdict {
        var left = draw
        for (percent, verdict) in [
            (self.lost, LabNetwork.Verdict.lose), (self.answersLost, .loseAnswer), (self.held, .hold),
            (self.answersHeld, .holdAnswer), (self.limited, .refuse("rate-limited: slow down")),
        ] {
            if left < percent { return verdict }
            left -= percent
        }
        return .deliver
    }
}

extension LabNetwork {
    /// Decides randomly over every publication from now on; the same seed makes the same decisions.
    public func setFaults(_ faults: LabPublishFaults, seed: UInt64) {
        let generator = Mutex(SeededGenerator(seed: seed, stream: "weather"))
        self.onPublish { _ in faults.verdict(generator.withLock { Int.random(in: 0..<100, using: &$0) }) }
    }
}
