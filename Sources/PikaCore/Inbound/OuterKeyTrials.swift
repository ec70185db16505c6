import Marmot
import Nostr

/// The outer keys that each waiting event was tried with, so that no key is tried on an event twice.
///
/// Without this record every commit would try all keys on all waiting events, whose number is under strangers' control.
struct OuterKeyTrials: Sendable {
    /// The keys of the ring, numbered in the order of their first use. A key that leaves the ring and returns through a
    /// rollback gets a new number: events that arrived in between were not tried with it.
    private var serials: [OuterKeyMark: Int] = [:]
    private var lastSerial = 0
    private var triedThrough: [EventID: Int] = [:]
    /// Decryptions attempted so far.
    private(set) var trialCount = 0

    /// Updates the numbered keys to those of the ring.
    mutating func follow(_ ring: OuterKeyRing) {
        let marks = ring.marks
        self.serials = self.serials.filter { marks.contains($0.key) }
        for mark in marks where self.serials[mark] == nil {
            self.lastSerial += 1
            self.serials[mark] = self.lastSerial
        }
    }

    /// Whether a key that was not tried on an event yet opens it; all keys of the ring count as tried afterwards.
    mutating func opens(_ event: Event, _ ring: OuterKeyRing) -> Bool {
        let tried = self.triedThrough[event.id] ?? 0
        guard tried < self.lastSerial else { return false }
        self.triedThrough[event.id] = self.lastSerial
        let fresh = self.serials.filter { $0.value > tried }.keys
        self.trialCount += fresh.count
        return ring.opens(event, with: fresh)
    }

    /// Records that all keys of the ring were tried on an event elsewhere.
    mutating func noteTried(_ id: EventID) { self.triedThrough[id] = self.lastSerial }

    mutating func forget(_ id: EventID) { self.triedThrough[id] = nil }
}
