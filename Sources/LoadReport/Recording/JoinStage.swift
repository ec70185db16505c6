/// Stages of an invited agent's join to one group, in order.
package enum JoinStage: Int, CaseIterable, Sendable, Comparable {
    /// The plan requires the agent to become a member.
    case planned
    /// The inviter has fetched the agent's key package.
    case keyPackage
    /// A relay has accepted the commit that adds it.
    case added
    /// The gift wrap of its Welcome has reached the agent.
    case welcomeSeen
    /// The agent is a member.
    case joined
    /// The agent has decrypted a message of the group.
    case firstMessage

    package static func < (left: JoinStage, right: JoinStage) -> Bool { left.rawValue < right.rawValue }

    /// The name in reports.
    package var name: String {
        switch self {
        case .planned: "planned"
        case .keyPackage: "key package"
        case .added: "added"
        case .welcomeSeen: "welcome seen"
        case .joined: "joined"
        case .firstMessage: "first message"
        }
    }
}
