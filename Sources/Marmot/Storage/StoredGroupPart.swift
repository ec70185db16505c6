public import MLS
public import Nostr

/// Name of a record stored beside a group for undecided races.
public enum GroupPart: Hashable, Sendable {
    /// Undo information for the commit that ended this epoch.
    case snapshot(epoch: Epoch)
    /// A commit of this account that is pending or was abandoned.
    case ownCommit(EventID)
}

/// Content of a ``GroupPart``: a header, and changed MLS records of the group before or after the commit.
public struct StoredGroupPart: Sendable {
    /// The part's own fields; the caller must seal them.
    public let header: Secret
    /// MLS records by name; the caller must seal them.
    public let records: [GroupRecord: Secret]

    /// Creates a part from its header and records.
    public init(header: Secret, records: [GroupRecord: Secret]) {
        self.header = header
        self.records = records
    }
}

/// Changes that bring a store up to date with a ``MarmotGroup``.
public struct MarmotGroupChanges: Sendable {
    /// The group's own header, if it changed.
    public let header: Secret?
    /// Changes to the MLS group's records.
    public let mls: GroupStorageChanges
    /// Parts to write; nil for those to delete.
    public let parts: [GroupPart: StoredGroupPart?]
}
