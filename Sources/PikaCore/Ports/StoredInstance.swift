/// Identifies the copy of an account's state that a store holds.
///
/// An MLS member that runs twice, or resumes from an older state, encrypts twice with the same keys. Therefore every
/// restore makes a new copy, which renews its keys before it sends anything.
package struct StoredInstance: Sendable, Hashable {
    /// 16 random bytes, different in every copy; empty in a store that is never copied.
    package var id: [UInt8]
    /// Unix milliseconds of the restore that made this copy, always greater than the generation of the copy it comes
    /// from; 0 for the first copy.
    package var generation: Int64
    /// Whether no core has handled the restore yet.
    package var isRestored: Bool

    package init(id: [UInt8] = [], generation: Int64 = 0, isRestored: Bool = false) {
        self.id = id
        self.generation = generation
        self.isRestored = isRestored
    }
}
