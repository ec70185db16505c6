/// Detects duplicates and reordering of one sender's messages at one receiver.
struct SequenceTracker: Sendable {
    enum Verdict: Sendable, Hashable {
        case inOrder
        /// A later message arrived before it.
        case late
        case repeated
    }

    private var highest = -1
    /// Sequence numbers below the highest that have not arrived; usually few.
    private var missing: Set<Int> = []
    /// First sequence number received; a receiver that joined later does not miss earlier ones.
    private var first: Int?
    /// Received sequence numbers below the first one.
    private var earlier: Set<Int> = []

    mutating func note(_ sequence: Int) -> Verdict {
        guard let first else {
            (first, highest) = (sequence, sequence)
            return .inOrder
        }
        if sequence > highest {
            missing.formUnion((highest + 1)..<sequence)
            highest = sequence
            return .inOrder
        }
        if sequence < first { return earlier.insert(sequence).inserted ? .late : .repeated }
        return missing.remove(sequence) == nil ? .repeated : .late
    }

    /// Forgets a received message, so that it may arrive again; returns false if it has not arrived.
    mutating func forget(_ sequence: Int) -> Bool {
        guard let first, sequence <= highest else { return false }
        if sequence < first { return earlier.remove(sequence) != nil }
        return missing.insert(sequence).inserted
    }
}
