import Nostr

/// What became of an event that was given to the store.
enum StoreOutcome: Hashable, Sendable {
    /// Committed, at this place in the order of all writes since the relay started.
    case stored(sequence: Int64)
    case duplicate
    /// A newer version of the replaceable or addressable event is there.
    case superseded
    /// Its author deleted it before (NIP-09).
    case deleted
    /// The database has reached its quota.
    case full
    case failed

    /// A client that publishes again what is settled has succeeded (NIP-01).
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
        case .duplicate: Refusal(.duplicate, "already have this event").message
        case .superseded: Refusal(.duplicate, "have a newer version of this event").message
        case .deleted: Refusal(.blocked, "this event was deleted by its author").message
        case .full: Refusal(.error, "the relay's store is full").message
        case .failed: Refusal(.error, "the event could not be stored").message
        }
    }
}
