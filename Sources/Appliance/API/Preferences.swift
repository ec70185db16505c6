package import Nostr

/// A preference with the time of its last change.
package struct PreferenceValue: APIValue {
    package var text: String
    /// Set by the device that changed it.
    package var updatedAt: UnixTime

    package init(text: String, updatedAt: UnixTime) {
        self.text = text
        self.updatedAt = updatedAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.text(self.text, 0...200, "preference")
    }
}

/// The allergens of one person of the household.
package struct PersonAllergens: APIValue {
    /// Name within the household; unique.
    package var person: String
    /// Sorted, without repetition.
    package var allergens: [Allergen]
    /// Set by the device that changed them.
    package var updatedAt: UnixTime

    package init(person: String, allergens: [Allergen], updatedAt: UnixTime) {
        self.person = person
        self.allergens = allergens
        self.updatedAt = updatedAt
    }

    package func validate() throws(ApplianceError) {
        try Bounds.text(self.person, 1...60, "person")
        try Bounds.list(self.allergens, 40, "person.allergens")
    }
}

/// Preferences and allergens of a household, with the version that the cloud assigned.
package struct Preferences: APIValue {
    /// Strictly increases with every accepted change; 0 if nothing was stored yet.
    package var version: Int
    /// By name, such as `spice`.
    package var values: [String: PreferenceValue]
    /// Sorted by name.
    package var people: [PersonAllergens]

    package init(version: Int, values: [String: PreferenceValue] = [:], people: [PersonAllergens] = []) {
        self.version = version
        self.values = values
        self.people = people
    }

    package func validate() throws(ApplianceError) {
        try Bounds.number(self.version, 0...Bounds.largestRevision, "preferences.version")
        guard self.values.count <= 64 else { throw Bounds.tooMany("preferences.values", 64) }
        for (name, value) in self.values {
            try Bounds.identifier(name, "preferences.values")
            try value.validate()
        }
        try Bounds.list(self.people, 32, "preferences.people")
        guard Set(self.people.map(\.person)).count == self.people.count else {
            throw ApplianceError(.malformed, "preferences.people: expected each person once")
        }
    }
}
