import MLS
public import Nostr

/// The change that a proposal makes once it is committed.
public enum ProposedChange: Hashable, Sendable {
    /// The proposer leaves the group.
    case departure
    /// A member is removed; nil if its credential names no account.
    case removal(PublicKey?)
    /// The account of a key package is added; nil if the key package names none.
    case addition(PublicKey?)
    /// The proposer replaces the keys of its leaf.
    case keyUpdate
    /// The group's data, such as its name or admins, changes.
    case groupData
    /// A proposal of a type that groups do not use.
    case other

    /// Reads a proposal that was made in the current epoch of `group`.
    init(_ proposal: Proposal, in group: MLSGroup) {
        switch proposal {
        case .selfRemove: self = .departure
        case .remove(let leaf): self = .removal(group.member(leaf)?.statedIdentity)
        case .add(let keyPackage): self = .addition(keyPackage.leafNode.statedIdentity)
        case .update: self = .keyUpdate
        case .groupContextExtensions, .appDataUpdate: self = .groupData
        case .preSharedKey, .reInit, .externalInit, .appEphemeral: self = .other
        }
    }
}
