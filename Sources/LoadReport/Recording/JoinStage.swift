/// How far an invited agent came on its way into one group; each stage is reached after the one before.
public enum JoinStage: Int, CaseIterable, Sendable, Comparable {
    /// The plan says that the agent is to be a member.
    case planned
    /// The inviter has a key package of it.
    case keyPackage
    /// A relay took the commit that adds it.
    case added
    /// The gift wrap of its Welcome came to the agent.
    case welcomeSeen
    /// The agent is a member.
    case joined
    /// The agent decrypted a message of the group.
    case firstMessage

    public static func < (left: JoinStage, right: JoinStage) -> Bool { left.rawValue < right.rawValue }

    /// The name in reports.
    public var name: String {
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
