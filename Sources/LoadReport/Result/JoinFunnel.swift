/// How many invited agents got how far into their groups, and why the others did not.
public struct JoinFunnel: Codable, Equatable, Sendable {
    public struct Stage: Codable, Equatable, Sendable {
        public var name: String
        /// How many reached it.
        public var count: Int
        /// Why agents that reached the stage before did not reach this one.
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

    /// How many reached a stage.
    public func count(_ stage: JoinStage) -> Int { stages.first { $0.name == stage.name }?.count ?? 0 }

    /// Members of all that were to be members; nil when nobody was to be.
    public var joinRatio: Double? { LoadCorrectness.ratio(count(.joined), of: count(.planned)) }
}
