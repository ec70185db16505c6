/// The texts of the chat in every language.
package enum Texts {
    static func table(_ language: Language) -> [TextKey: String] {
        switch language {
        case .english: self.english
        case .hindi: self.hindi
        case .tamil: self.tamil
        }
    }

    /// The text of a key; in English if the language lacks it.
    static func template(_ key: TextKey, in language: Language) -> String {
        self.table(language)[key] ?? self.english[key] ?? key.rawValue
    }

    /// The names in braces of a key's text, sorted.
    static func placeholders(_ key: TextKey, in language: Language) -> [String] {
        self.pieces(self.template(key, in: language)).compactMap { $0.isPlaceholder ? $0.text : nil }.sorted()
    }

    /// Returns the text of a key, with each name in braces replaced by its argument.
    ///
    /// Arguments are not searched for braces, so that text of a recipe or a person cannot name other arguments. A name
    /// without an argument stays as it is.
    package static func text(
        _ key: TextKey, _ arguments: [String: String] = [:], in language: Language
    ) -> String {
        self.pieces(self.template(key, in: language)).map { piece in
            piece.isPlaceholder ? arguments[piece.text] ?? "{\(piece.text)}" : piece.text
        }
        .joined()
    }

    /// The name of an allergen; its code if it is not known here.
    package static func name(of allergen: Allergen, in language: Language) -> String {
        self.allergens[allergen].map { self.text($0, in: language) } ?? allergen.rawValue
    }

    /// Finds an allergen by its code or by its name in any language.
    package static func allergen(parsing text: String) -> Allergen? {
        let wanted = RecipeSearch.normalized(text.lowercased())
        return Allergen.known.first { allergen in
            allergen.rawValue == wanted
                || Language.allCases.contains { RecipeSearch.normalized(self.name(of: allergen, in: $0)) == wanted }
        }
    }

    private static let allergens: [Allergen: TextKey] = [
        .gluten: .allergenGluten, .milk: .allergenMilk, .egg: .allergenEgg, .peanut: .allergenPeanut,
        .treeNut: .allergenTreeNut, .soy: .allergenSoy, .fish: .allergenFish, .shellfish: .allergenShellfish,
        .sesame: .allergenSesame, .mustard: .allergenMustard,
    ]

    private struct Piece {
        let text: String
        let isPlaceholder: Bool
    }

    private static func pieces(_ template: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = Substring(template)
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            pieces.append(Piece(text: String(rest[..<open]), isPlaceholder: false))
            pieces.append(Piece(text: String(rest[rest.index(after: open)..<close]), isPlaceholder: true))
            rest = rest[rest.index(after: close)...]
        }
        return pieces + [Piece(text: String(rest), isPlaceholder: false)]
    }
}
