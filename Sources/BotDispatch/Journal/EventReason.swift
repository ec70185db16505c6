import PikaCore

/// The reason of an event's fate, by the layer that decided it.
enum EventReason: Hashable, Sendable {
    case core(CoreReason)
    case ignored(IgnoreReason)
    case handling(HandlingReason)
}

extension JournalEntry {
    /// The reason; nil if its code is that of an error of Marmot or MLS, or was stored by another version.
    var knownReason: EventReason? {
        switch fate {
        case .ignored: IgnoreReason(rawValue: reason).map(EventReason.ignored)
        case .handled, .failed: HandlingReason(rawValue: reason).map(EventReason.handling)
        case .refused: CoreReason(rawValue: reason).map(EventReason.core)
        // The code is that of the action's error.
        case .actionFailed: nil
        case .waiting, .gaveUp:
            CoreReason(rawValue: reason).map(EventReason.core)
                ?? HandlingReason(rawValue: reason).map(EventReason.handling)
        }
    }
}
