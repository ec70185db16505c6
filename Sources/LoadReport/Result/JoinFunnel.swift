/// Number of invited agents that reached each stage of their joins, and the reasons why the others did not.
package struct JoinFunnel: Codable, Equatable, Sendable {
    package struct Stage: Codable, Equatable, Sendable {
        package var name: String
        /// Number of agents that reached it.
        package var count: Int
        /// The reasons why agents that had reached the previous stage did not reach this one.
        package var lost: [FailureReason]

        package init(name: String, count: Int, lost: [FailureReason]) {
            self.name = name
            self.count = count
            self.lost = lost
        }
    }

    /// One for each ``JoinStage``, in that order.
    package var stages: [Stage]

    package init(stages: [Stage]) { self.stages = stages }

    /// Returns the number of agents that reached a stage.
    package func count(_ stage: JoinStage) -> Int { stages.first { $0.name == stage.name }?.count ?? 0 }

    /// Share of planned members that joined; nil if none were planned.
    package var joinRatio: Double? { LoadCorrectness.ratio(count(.joined), of: count(.planned)) }
}
