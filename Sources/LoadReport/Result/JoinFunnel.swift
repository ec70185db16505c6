/// Number of invited agents that reached each stage of their joins, and why the others did not.
public struct JoinFunnel: Codable, Equatable, Sendable {
    public struct Stage: Codable, Equatable, Sendable {
        public var name: String
        /// Number of agents that reached it.
        public var count: Int
        /// Why agents that had reached the previous stage did not reach this one.
        public var lost: [FailureReason]

        public init(name: String, count: Int, lost: [FailureReason]) {
            self.name = name
            self.count = count
            self.lost = lost
        }
    }

    /// One for each ``JoinStage``, in that order.
    public var stages: [Stage]

    public init(stages: [Stage]) { self.stages = stages }

    /// Returns the number of agents that reached a stage.
    public func count(_ stage: JoinStage) -> Int { stages.first { $0.name == stage.name }?.count ?? 0 }

    /// Share of planned members that joined; nil if none were planned.
    public var joinRatio: Double? { LoadCorrectness.ratio(count(.joined), of: count(.planned)) }
}
