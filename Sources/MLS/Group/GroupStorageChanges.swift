/// Changes that bring a store up to date with a group; also used as the difference between two values of a group.
public struct GroupStorageChanges: Sendable {
    /// Whether the store must first delete every earlier record of the group.
    public var replacesAll: Bool
    /// New contents, which are secret and must be sealed; nil for a record to delete.
    public var records: [GroupRecord: Secret?]

    /// Creates changes; a nil value in `records` deletes that record.
    public init(replacesAll: Bool, records: [GroupRecord: Secret?]) {
        self.replacesAll = replacesAll
        self.records = records
    }

    /// Applies these changes to records in memory.
    public func apply(to stored: inout [GroupRecord: Secret]) {
        if self.replacesAll { stored = [:] }
        for (name, content) in self.records { stored[name] = content }
    }
}
