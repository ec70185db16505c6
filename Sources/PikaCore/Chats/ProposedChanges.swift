import Marmot
package import Nostr

extension ProposalEvent.Change {
    init(_ change: ProposedChange) {
        switch change {
        case .departure: self = .departure
        case .removal(let member): self = .removal(member)
        case .addition(let account): self = .addition(account)
        case .keyUpdate: self = .keyUpdate
        case .groupData: self = .groupData
        case .other: self = .other
        }
    }

    /// The name of the change in JSON.
    package var name: String {
        switch self {
        case .departure: "departure"
        case .removal: "removal"
        case .addition: "addition"
        case .keyUpdate: "key_update"
        case .groupData: "group_data"
        case .other: "other"
        }
    }

    /// The account that is removed or added; nil if it is unknown, and for other changes.
    package var account: PublicKey? {
        switch self {
        case .removal(let account), .addition(let account): account
        case .departure, .keyUpdate, .groupData, .other: nil
        }
    }

    /// Reads the name and the account; nil if the name is unknown.
    init?(name: String, account: PublicKey?) {
        switch name {
        case "departure": self = .departure
        case "removal": self = .removal(account)
        case "addition": self = .addition(account)
        case "key_update": self = .keyUpdate
        case "group_data": self = .groupData
        case "other": self = .other
        default: return nil
        }
    }
}
