/// REQs of one subscription that newer ones have replaced on the same connection.
///
/// A replaced REQ stays open until a newer one has returned its stored events, and its events are delivered even after
/// CLOSE. Otherwise events would be lost that the relay sent to the old REQ just before the new one: a new REQ with a
/// limit does not return all of them.
struct ReplacedRequests: Hashable {
    /// The limits of open REQs and of remembered closed ones: a relay that never sends EOSE must not accumulate them.
    static let maximum = 8

    /// Subscription ids of the REQs without a CLOSE, oldest first. The oldest one receives all new events, so that it
    /// stays open until a newer one does, too.
    private(set) var open: [String] = []
    private var closed: [String] = []

    /// Subscription ids of all remembered REQs.
    var all: [String] { open + closed }

    /// Adds a REQ; returns the one to close, if they are too many.
    mutating func append(_ wireID: String) -> String? {
        open.append(wireID)
        guard open.count > Self.maximum else { return nil }
        let surplus = open.remove(at: 1)
        closed.append(surplus)
        return surplus
    }

    /// Returns the REQs to close: those before the one whose stored events have arrived.
    ///
    /// - Parameter wireID: a replaced REQ; nil for the current one.
    mutating func close(before wireID: String?) -> [String] {
        guard let end = wireID.map({ open.firstIndex(of: $0) }) ?? open.endIndex else { return [] }
        let older = Array(open[..<end])
        open.removeSubrange(..<end)
        closed += older
        return older
    }

    /// Returns the surplus of closed REQs, whose events are no longer delivered.
    mutating func forgetSurplus() -> [String] {
        let surplus = Array(closed.dropLast(Self.maximum))
        closed.removeFirst(surplus.count)
        return surplus
    }

    /// Removes a REQ that the relay has closed.
    mutating func remove(_ wireID: String) {
        open.removeAll { $0 == wireID }
        closed.removeAll { $0 == wireID }
    }
}
