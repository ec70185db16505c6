import Appliance
import Nostr

extension SimulatedCloud {
    private static let pageSize = 20

    static let householdRoutes: [Route] = [
        Route("GET", "/v1/recipes") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try cloud.page(call.request.query)
        },
        Route("GET", "/v1/recipes/*") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            let recipes = cloud.recipes[try Self.language(call.request.query)] ?? []
            guard let recipe = recipes.first(where: { $0.id == call.parameters[0] }) else {
                throw Refusal(404, "not_found", "unknown recipe")
            }
            return try Self.json(recipe)
        },
        Route("GET", "/v1/recipes/*/image") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            let index = cloud.recipes[.english]?.firstIndex { $0.id == call.parameters[0] }
            guard let index else { throw Refusal(404, "not_found", "unknown recipe") }
            return SimulatedResponse(
                status: 200, content: .bytes(SamplePicture.jpeg(number: index), type: "image/jpeg"))
        },
        Route("GET", "/v1/preferences") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try Self.json(cloud.preferences)
        },
        Route("PUT", "/v1/preferences") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try cloud.replacePreferences(call)
        },
        Route("GET", "/v1/history") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try Self.json(HistoryPage(items: Array(cloud.history.suffix(100).reversed())))
        },
        Route("PUT", "/v1/history/*") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            return try cloud.addHistory(call)
        },
        Route("PUT", "/v1/history/*/rating") { cloud, call, _ in
            _ = try cloud.authorize(call.request, call.now)
            let rating = try APICoding.decode(Rating.self, from: call.request.body)
            guard let index = cloud.history.firstIndex(where: { $0.id == call.parameters[0] }) else {
                throw Refusal(404, "not_found", "unknown session")
            }
            if cloud.history[index].rating.map({ rating.ratedAt >= $0.ratedAt }) ?? true {
                cloud.history[index].rating = rating
            }
            return try Self.json(cloud.history[index])
        },
    ]

    private static func language(_ query: [String: String]) throws(Refusal) -> Language {
        guard let language = Language(rawValue: query["language"] ?? "en") else {
            throw Refusal(400, "malformed", "language: expected en, hi or ta")
        }
        return language
    }

    private func page(_ query: [String: String]) throws -> SimulatedResponse {
        let wanted = RecipeSearch.normalized((query["q"] ?? "").lowercased())
        let found = (self.recipes[try Self.language(query)] ?? []).filter { recipe in
            wanted.isEmpty || RecipeSearch.row(recipe).contains { $0.lowercased().contains(wanted) }
        }
        let sorted = found.filter { $0.id > query["cursor"] ?? "" }.sorted { $0.id < $1.id }
        let items = Array(sorted.prefix(Self.pageSize))
        return try Self.json(
            RecipePage(items: items, nextCursor: sorted.count > items.count ? items.last?.id : nil))
    }

    private mutating func replacePreferences(_ call: Call) throws -> SimulatedResponse {
        var preferences = try APICoding.decode(Preferences.self, from: call.request.body)
        guard let version = call.request.ifMatch.flatMap({ Int($0) }), version == preferences.version else {
            throw Refusal(428, "version_required", "expected the header If-Match with the version of the body")
        }
        // The current state is in the answer, so that the client can merge without another request.
        guard version == self.preferences.version else { return try Self.json(self.preferences, status: 409) }
        preferences.version = version.clampedAdding(1)
        self.preferences = preferences
        self.emit([.preferencesChanged(version: preferences.version)], of: nil, call.now)
        return try Self.json(preferences)
    }

    /// Keeps the first record of an id; a rating of its own endpoint is not lost by a repetition.
    private mutating func addHistory(_ call: Call) throws -> SimulatedResponse {
        let record = try APICoding.decode(HistoryRecord.self, from: call.request.body)
        guard record.id == call.parameters[0] else { throw Refusal(400, "malformed", "the ids differ") }
        if let known = self.history.first(where: { $0.id == record.id }) { return try Self.json(known) }
        guard self.history.count < Self.maximumHistory else { throw Refusal(507, "full", "the history is full") }
        self.history.append(record)
        return try Self.json(record, status: 201)
    }
}
