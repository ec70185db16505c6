/// What a store must do to hold a group as it is now; also the difference between two values of a group.
public struct GroupStorageChanges: Sendable {
    /// Whether every earlier record of the group must go first.
    public var replacesAll: Bool
    /// New contents (secret: seal them), or nil for a record to delete.
    public var records: [GroupRecord: Secret?]

    public init(replacesAll: Bool, records: [GroupRecord: Secret?]) {
        self.replacesAll = replacesAll
        self.records = records
    }

    /// Makes the same changes to records in memory.
    public func apply(to stored: inout [GroupRecord: Secret]) {
        if self.replacesAll { stored = [:] }
        for (name, content) in self.records { stored[name] = content }
    }
}
