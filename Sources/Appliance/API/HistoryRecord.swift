package import Nostr

/// How a cooking session ended.
package enum CookingOutcome: String, Hashable, Sendable, Codable {
    case finished, stopped, failed

    /// Nil while the session goes on.
    package init?(_ phase: CookingPhase) {
        switch phase {
        case .finished: self = .finished
        case .stopped: self = .stopped
        case .failed: self = .failed
        case .cooking, .paused: return nil
        }
    }
}

/// A household's rating of a dish; the latest one counts.
package struct Rating: APIValue {
    /// 1 to 5.
    package var stars: Int
    package var ratedAt: UnixTime

    package init(stars: Int, ratedAt: UnixTime) {
        self.stars = stars
        self.ratedAt = ratedAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.number(self.stars, 1...5, "rating.stars")
    }
}

/// A past cooking session. Its id is the session's, so that it exists once, whoever reports it.
package struct HistoryRecord: APIValue {
    /// The session's id.
    package var id: String
    package var applianceID: String
    package var recipeID: String
    /// The recipe's, when it was cooked.
    package var title: String
    package var servings: Int
    package var outcome: CookingOutcome
    package var startedAt: UnixTime
    package var endedAt: UnixTime
    package var rating: Rating?

    package init(
        id: String, applianceID: String, recipeID: String, title: String, servings: Int, outcome: CookingOutcome,
        startedAt: UnixTime, endedAt: UnixTime, rating: Rating? = nil
    ) {
        self.id = id
        self.applianceID = applianceID
        self.recipeID = recipeID
        self.title = title
        self.servings = servings
        self.outcome = outcome
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.rating = rating
    }

    package func validate() throws(ApplianceError) {
        try Bounds.identifier(self.id, "history.id")
        try Bounds.identifier(self.applianceID, "history.applianceID")
        try Bounds.identifier(self.recipeID, "history.recipeID")
        try Bounds.text(self.title, 1...200, "history.title")
        try Bounds.number(self.servings, 1...100, "history.servings")
        try self.rating?.validate()
    }
}

/// Past sessions, the latest first.
package struct HistoryPage: APIValue {
    package var items: [HistoryRecord]

    package init(items: [HistoryRecord]) {
        self.items = items
    }

    package func validate() throws(ApplianceError) {
        try Bounds.list(self.items, 100, "history")
    }
}
