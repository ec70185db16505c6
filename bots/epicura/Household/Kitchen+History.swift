import Appliance
import BotKit

/// Past sessions and their ratings.
extension Kitchen {
    /// The last ten sessions, the latest first.
    func history(for chat: ChatID) -> String {
        let records = state.history.journal.records.sorted { $0.endedAt > $1.endedAt }.prefix(10)
        guard !records.isEmpty else { return text(.historyEmpty, for: chat) }
        let zone = state.household.chats[chat.rawValue]?.plan?.zone ?? settings.timeZone
        return records.map { record in
            let stars = record.rating.map { " " + String(repeating: "⭐", count: $0.stars) } ?? ""
            let outcome = text(TextKey(record.outcome.state), for: chat)
            return "\(record.title), \(LocalDate.text(record.endedAt, zone)), \(outcome)\(stars)"
        }
        .joined(separator: "\n")
    }

    /// Rates the last session of the household.
    func rateLast(_ stars: Int, for chat: ChatID) async throws -> String {
        guard let last = state.history.journal.records.max(by: { $0.endedAt < $1.endedAt }) else {
            return text(.historyEmpty, for: chat)
        }
        try await rate(last.id, Rating(stars: stars, ratedAt: now))
        return text(.ratingSaved, ["stars": "\(stars)"], for: chat)
    }

    /// Rates a session by a reaction to one of its messages; nil for other messages and other reactions.
    func rate(byReaction reaction: String, to message: EventID, for chat: ChatID) async throws -> String? {
        guard let link = state.history.links.last(where: { $0.message == message.hex }),
            let rating = Rating(reaction: reaction, at: now),
            state.history.journal.records.contains(where: { $0.id == link.session })
        else { return nil }
        try await rate(link.session, rating)
        return text(.ratingSaved, ["stars": "\(rating.stars)"], for: chat)
    }

    private func rate(_ session: String, _ rating: Rating) async throws {
        try await update { state, _ in
            try state.history.journal.rate(session, rating)
            return ((), [.synchronize])
        }
    }

    /// Remembers the message whose reactions rate a session.
    func link(_ message: EventID, to session: String) async throws {
        let link = HistoryPart.Link(message: message.hex, session: session)
        try await change { state, _ in
            guard !state.history.links.contains(link) else { return }
            state.history.links.append(link)
            if state.history.links.count > HistoryPart.maximumLinks { state.history.links.removeFirst() }
        }
    }
}

extension CookingOutcome {
    /// The word for a list.
    fileprivate var state: ApplianceState {
        switch self {
        case .finished: .idle
        case .stopped: .stopped
        case .failed: .failed
        }
    }
}
