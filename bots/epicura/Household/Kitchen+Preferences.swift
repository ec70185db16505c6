import Appliance
import BotKit

/// Preferences and allergens, which the cloud has too.
extension Kitchen {
    /// Sets the allergens of a person from words such as `milk, peanut` or `none`.
    func setAllergens(_ list: String, of person: String, for chat: ChatID) async throws -> String {
        let language = language(of: chat)
        let words = list.split(separator: ",").map { word in
            String(word.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
        }
        let none = ["none", Texts.text(.allergensNone, in: language).lowercased()]
        var allergens: Set<Allergen> = []
        if !(words.count == 1 && none.contains(words[0].lowercased())) {
            for word in words {
                guard let allergen = Texts.allergen(parsing: word) else {
                    let names = Allergen.known.map { Texts.name(of: $0, in: language) }.joined(separator: ", ")
                    return text(.allergensUnknown, ["allergens": names], for: chat)
                }
                allergens.insert(allergen)
            }
        }
        let chosen = allergens
        try await update { state, now in
            try state.preferences.setAllergens(chosen, of: person, now: now)
            return ((), [.synchronize])
        }
        return withWaiting(self.allergens(of: person, for: chat), for: chat)
    }

    /// One line for each person.
    func allergens(for chat: ChatID) -> String {
        let people = state.preferences.current.people
        guard !people.isEmpty else { return text(.allergensNone, for: chat) }
        return people.map { allergens(of: $0.person, for: chat) }.joined(separator: "\n")
    }

    private func allergens(of person: String, for chat: ChatID) -> String {
        let language = language(of: chat)
        let found = state.preferences.current.people.first { $0.person == person }?.allergens ?? []
        let names = found.map { Texts.name(of: $0, in: language) }.joined(separator: ", ")
        return text(
            .allergensSet,
            ["person": person, "allergens": names.isEmpty ? text(.allergensNone, for: chat) : names], for: chat)
    }

    func setPreference(_ name: String, to value: String, for chat: ChatID) async throws -> String {
        try await update { state, now in
            try state.preferences.set(name.lowercased(), to: value, now: now)
            return ((), [.synchronize])
        }
        return withWaiting(text(.preferenceSet, ["name": name.lowercased(), "value": value], for: chat), for: chat)
    }

    func preferences(for chat: ChatID) -> String {
        let values = state.preferences.current.values.sorted { $0.key < $1.key }
        guard !values.isEmpty else { return text(.allergensNone, for: chat) }
        return values.map { text(.preferenceSet, ["name": $0.key, "value": $0.value.text], for: chat) }
            .joined(separator: "\n")
    }

    private func withWaiting(_ text: String, for chat: ChatID) -> String {
        guard !isCloudReachable, state.preferences.pendingCount > 0 else { return text }
        return text + "\n" + self.text(.preferenceWaiting, for: chat)
    }
}
