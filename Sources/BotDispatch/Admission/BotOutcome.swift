/// The outcome of an event for a bot that received it.
package enum BotOutcome: Hashable, Sendable {
    /// A handler accepted it, and requested this number of effects.
    case handled(handler: String, effects: Int)
    /// A handler threw an error of this type.
    case failed(handler: String, error: String)
    case timedOut(handler: String)

    var journalFields: (reason: HandlingReason, detail: String) {
        switch self {
        case .handled(let handler, let effects):
            (effects == 0 ? .nothingToDo : .done, "handler \(handler), effects: \(effects)")
        case .failed(let handler, let error): (.error, "handler \(handler) threw \(error)")
        case .timedOut(let handler): (.timeout, "handler \(handler)")
        }
    }
}

/// Counts of a bot's outcomes since the worker's start.
package struct BotCounts: Hashable, Sendable {
    package var handled = 0
    package var failed = 0
    package var ignored = 0

    mutating func add(_ outcome: BotOutcome) {
        switch outcome {
        case .handled: handled += 1
        case .failed, .timedOut: failed += 1
        }
    }
}
