import Nostr
import Synchronization

/// Memory of the most recently verified events, so that an event that arrives again, or at several accounts of one
/// process, is verified once.
///
/// An entry is an event's id with its signature. Because receivers recompute the id from the content, equal entries mean
/// equal events.
package final class VerifiedSignatures: Sendable {
    private struct Entry: Hashable {
        let id: EventID
        let signature: Signature
    }

    private let entries: Mutex<RecentSet<Entry>>

    /// - Parameter capacity: The number of events to remember.
    package init(capacity: Int) {
        entries = Mutex(RecentSet(capacity: capacity))
    }

    /// Verifies an event as ``Nostr/Event/verify()`` does. The id is always recomputed.
    func verify(_ event: Event) throws(NostrError) {
        let entry = Entry(id: event.id, signature: event.signature)
        guard !entries.withLock({ $0.contains(entry) }) else { return try event.verifyID() }
        try event.verify()
        _ = entries.withLock { $0.insert(entry) }
    }

    /// Counts an event as verified that this process signs or has verified itself.
    func trust(_ event: Event) {
        _ = entries.withLock { $0.insert(Entry(id: event.id, signature: event.signature)) }
    }
}
