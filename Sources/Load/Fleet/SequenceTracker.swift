/// Which of a sender's messages one receiver has seen: what came twice, and what came after a later one.
struct SequenceTracker: Sendable {
    enum Verdict: Sendable, Hashable {
        case inOrder
        /// A later one came before it.
        case late
        case repeated
    }

    private var highest = -1
    /// Below the highest, those that have not come; few while all goes well.
    private var missing: Set<Int> = []
    /// A receiver that came later misses nothing of before.
    private var first: Int?
    /// Those before the first one that came.
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
}
