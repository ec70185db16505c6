/// Which copy of an account's state a store holds.
///
/// An MLS member that lives twice, or goes on from an older state, encrypts with the same keys twice. So every restore
/// makes another copy, which renews its keys before it sends anything.
public struct StoredInstance: Sendable, Hashable {
    /// 16 random bytes, others in every copy; empty in a store that is never copied.
    public var id: [UInt8]
    /// When the copy was made by a restore, Unix milliseconds, and above that of the copy it comes from; 0 for the
    /// first one.
    public var generation: Int64
    /// Whether no core has taken note of the restore yet.
    public var isRestored: Bool

    public init(id: [UInt8] = [], generation: Int64 = 0, isRestored: Bool = false) {
        self.id = id
        self.generation = generation
        self.isRestored = isRestored
    }
}
