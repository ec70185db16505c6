/// Which persons of a household cannot eat a recipe, and why.
package struct AllergenMarks: Hashable, Sendable {
    package struct Mark: Hashable, Sendable {
        package let person: String
        /// Sorted; at least one.
        package let allergens: [Allergen]
    }

    /// In order of the persons' names; only persons with at least one allergen of the recipe.
    package let marks: [Mark]

    package init(_ recipe: Recipe, for people: [PersonAllergens]) {
        let contained = Set(recipe.allergens)
        self.marks =
            people.compactMap { person in
                let found = contained.intersection(person.allergens).sorted()
                return found.isEmpty ? nil : Mark(person: person.person, allergens: found)
            }
            .sorted { $0.person < $1.person }
    }

    package var isEmpty: Bool { self.marks.isEmpty }

    /// One line for each person, such as "⚠️ Asha: milk, peanut".
    package func lines(in language: Language) -> [String] {
        self.marks.map { mark in
            "⚠️ \(mark.person): " + mark.allergens.map { Texts.name(of: $0, in: language) }.joined(separator: ", ")
        }
    }
}
