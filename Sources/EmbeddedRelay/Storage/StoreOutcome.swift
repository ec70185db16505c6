import Nostr

/// Result of storing an event.
enum StoreOutcome: Hashable, Sendable {
    /// Committed, with its sequence number among all writes since the relay started.
    case stored(sequence: Int64)
    case duplicate
    /// A newer version of the replaceable or addressable event is stored.
    case superseded
    /// The author has deleted it (NIP-09).
    case deleted
    /// The database has reached its quota.
    case full
    case failed

    /// Publishing an event that is already stored or superseded counts as success (NIP-01).
    var isAccepted: Bool {
        switch self {
        case .stored, .duplicate, .superseded: true
        case .deleted, .full, .failed: false
        }
    }

    /// The text of the OK message.
    var message: String {
        switch self {
        case .stored: ""
        case .duplicate: RefusalText(.duplicate, "already have this event").message
        case .superseded: RefusalText(.duplicate, "have a newer version of this event").message
        case .deleted: RefusalText(.blocked, "this event was deleted by its author").message
        case .full: RefusalText(.error, "the relay's store is full").message
        case .failed: RefusalText(.error, "the event could not be stored").message
        }
    }
}
