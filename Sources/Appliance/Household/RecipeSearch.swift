import Foundation

/// Full-text search of recipes with SQLite's FTS5.
package enum RecipeSearch {
    /// The tokenizer of the search table.
    ///
    /// FTS5's default classes treat the vowel signs of Indic scripts (categories Mn and Mc) as separators, so that a word
    /// such as "दाल" would become two tokens. With them in words, whole words match.
    package static let tokenizer = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"

    /// Columns of the search table, in the order of their weights.
    package static let columns = ["title", "ingredients", "tags"]

    package static let maximumTerms = 8
    static let maximumTermBytes = 60

    /// Brings indexed text and queries into one form: NFC, without joiners.
    ///
    /// Zero-width joiners only choose the shape of a letter, but FTS5 would split words there. NFC decides between the two
    /// encodings of letters with a nukta.
    package static func normalized(_ text: String) -> String {
        let composed = text.precomposedStringWithCanonicalMapping.unicodeScalars.filter {
            $0.value != 0x200C && $0.value != 0x200D
        }
        return String(String.UnicodeScalarView(composed))
    }

    /// Builds the right side of `MATCH`: every term must occur, the last one as the beginning of a word.
    ///
    /// Terms are quoted, so that nothing that a person writes is query syntax. Nil for text without any letter or digit.
    package static func query(_ text: String) -> String? {
        let scalars = self.normalized(String(text.prefix(400))).unicodeScalars
        let words = scalars.split { !self.isPartOfWord($0) }.prefix(self.maximumTerms)
        let terms = words.map { word in
            var term = ""
            for scalar in word where term.utf8.count < self.maximumTermBytes { term.unicodeScalars.append(scalar) }
            return term
        }
        guard !terms.isEmpty else { return nil }
        return terms.map { "\"\($0)\"" }.joined(separator: " ") + "*"
    }

    /// The categories of ``tokenizer``.
    private static func isPartOfWord(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter: true
        case .decimalNumber, .letterNumber, .otherNumber: true
        case .privateUse, .nonspacingMark, .spacingMark: true
        default: false
        }
    }

    /// The searchable text of a recipe, one for each of ``columns``.
    package static func row(_ recipe: Recipe) -> [String] {
        let ingredients = recipe.ingredients.map { $0.name }.joined(separator: " ")
        return [recipe.title, ingredients, recipe.tags.joined(separator: " ")].map { self.normalized($0) }
    }
}
