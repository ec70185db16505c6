package import Nostr

/// An explanation of an event's fate in words: the answer to `why`.
package struct EventExplanation: Hashable, Sendable {
    package struct Part: Hashable, Sendable {
        package let entry: JournalEntry
        /// The outcome in words; ``advice`` says how to change it if it was not intended.
        package let sentence: String
        package let advice: String
    }

    package let query: String
    /// Whether the query is a time span.
    private let isSpan: Bool
    /// The explained outcomes, oldest first.
    package let parts: [Part]
    /// The times of arrival of matching events that are not completed.
    package let openSince: [UnixTime]

    /// The minimum length of a query; a shorter prefix could match any event.
    package static let minimumDigits = 4

    /// Explains events by a prefix of their id; nil if the query is not such a prefix in hex.
    package init?(of query: String, from journal: EventJournal) {
        let digits = query.lowercased()
        guard (Self.minimumDigits...64).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return nil }
        self.query = digits
        isSpan = false
        parts = Self.parts(journal.entries(matching: digits))
        openSince = journal.open(matching: digits).map(\.at).sorted()
    }

    /// The maximum number of outcomes of a time span that are explained: the newest.
    package static let maximumParts = 200

    /// Explains the events of a time span.
    package init(in span: ClosedRange<UnixTime>, from journal: EventJournal) {
        isSpan = true
        query = "\(span.lowerBound) to \(span.upperBound)"
        parts = Self.parts(journal.entries(in: span, limit: Self.maximumParts))
        openSince = Array(journal.open(in: span).map(\.at).sorted().prefix(Self.maximumParts))
    }

    private static func parts(_ entries: [JournalEntry]) -> [Part] {
        // A waiting event has an entry for each retry: only the newest is kept.
        var seen: Set<String> = []
        return entries.reversed().filter { seen.insert($0.distinction).inserted }.reversed().map { entry in
            let (sentence, advice) = entry.explanation
            return Part(entry: entry, sentence: sentence, advice: advice)
        }
    }

    /// The explanation as text.
    package var lines: [String] {
        var lines: [String] = []
        for since in openSince {
            lines.append("Received at \(since); queued, or a handler is running for it.")
        }
        var name = ""
        for part in parts {
            let entry = part.entry
            let title = "event \(entry.id ?? entry.wrapper ?? "?")" + (entry.chat.map(Self.place) ?? "")
            if title != name { lines.append(title) }
            name = title
            let whom = entry.bot.map { "bot \($0): " } ?? ""
            let change = entry.change.map { "\($0.words): " } ?? ""
            lines.append("  \(change)\(whom)\(part.sentence)" + (entry.detail.isEmpty ? "" : " (\(entry.detail))"))
            if !part.advice.isEmpty { lines.append("    \(part.advice)") }
        }
        return lines.isEmpty ? unknown : lines
    }

    /// Returns the place of an event in words: its chat or its feed.
    private static func place(_ chat: String) -> String { chat.hasPrefix("feed/") ? " of \(chat)" : " in chat \(chat)" }

    /// What to check if nothing matches.
    private var unknown: [String] {
        guard !isSpan else { return ["No event of this time is recorded."] }
        return [
            "No event with this inner or outer id (or prefix) is known.",
            "  It never arrived, it is older than the newest \(EventJournal.capacity) recorded events, or it is one of the "
                + "account's own, which are not recorded.",
            "    Check that the relays are connected (pikabot status), that the account is a member of the group, and that "
                + "the id is the message's or that of the kind 445 event that wraps it.",
        ]
    }

    package var json: JSONValue {
        [
            "query": .string(query), "lines": .array(lines.map { .string($0) }),
            "waiting_since": .array(openSince.map { .integer($0.seconds) }),
            "events": .array(parts.map(\.json)),
        ]
    }
}

extension EventExplanation.Part {
    fileprivate var json: JSONValue {
        func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
        return [
            "at": .integer(entry.at.seconds), "id": text(entry.id), "wrapper": text(entry.wrapper),
            "chat": text(entry.chat), "bot": text(entry.bot), "fate": .string(entry.fate.rawValue),
            "reason": .string(entry.reason),
            "detail": .string(entry.detail), "sentence": .string(sentence), "advice": .string(advice),
            "change": text(entry.change?.rawValue),
        ]
    }
}

extension JournalEntry {
    /// The key of entries that stand for each other: an explanation shows only the newest one of each key.
    fileprivate var distinction: String {
        // A handler may request several actions, each of which has a detail of its own.
        let action = fate == .actionFailed ? detail : ""
        return "\(id ?? "")\(wrapper ?? "")\(bot ?? "")\(fate)\(reason)\(change?.rawValue ?? "")\(action)"
    }
}

extension JournalEntry.Change {
    fileprivate var words: String {
        switch self {
        case .withdrawal: "withdrawn, because the group settled on another branch"
        case .restoration: "restored, because the group settled on its branch again"
        }
    }
}
