public import MLS
public import Nostr

/// What is stored beside a group, for races that are not over.
public enum GroupPart: Hashable, Sendable {
    /// The way back to before the commit that ended this epoch.
    case snapshot(epoch: Epoch)
    /// A commit of one's own that is pending, or was given up.
    case ownCommit(EventID)
}

/// The content of a ``GroupPart``: a header, and MLS records of a group before or after.
public struct StoredGroupPart: Sendable {
    public let header: Secret
    public let records: [GroupRecord: Secret]

    public init(header: Secret, records: [GroupRecord: Secret]) {
        self.header = header
        self.records = records
    }
}

/// What a store must do to hold a ``MarmotGroup`` as it is now.
public struct MarmotGroupChanges: Sendable {
    /// The group's own header, if it changed.
    public let header: Secret?
    public let mls: GroupStorageChanges
    /// Parts to write, or nil for those to delete.
    public let parts: [GroupPart: StoredGroupPart?]
}
