/// The outcome of an event at a bot's handlers. The raw values are stored in journals and never change.
package enum HandlingReason: String, Hashable, Sendable, CaseIterable {
    /// A handler accepted it and requested effects.
    case done
    /// A handler accepted it and requested no effects.
    case nothingToDo = "nothing_to_do"
    /// A handler threw.
    case error
    /// A handler exceeded its deadline.
    case timeout
    /// It waits, because too many handlers of the bot hang.
    case stuck
    /// It was abandoned because processes died while it was in flight. Also a metric label.
    case crashed

    var fate: JournalEntry.Fate {
        switch self {
        case .done, .nothingToDo: .handled
        case .error, .timeout: .failed
        case .stuck: .waiting
        case .crashed: .gaveUp
        }
    }
}
