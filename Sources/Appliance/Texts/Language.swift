/// A language of recipes and of the texts in the chat, by its ISO 639-1 code.
package enum Language: String, Hashable, Sendable, Codable, CaseIterable {
    case english = "en"
    case hindi = "hi"
    case tamil = "ta"

    /// The language's name in itself.
    package var ownName: String {
        switch self {
        case .english: "English"
        case .hindi: "हिन्दी"
        case .tamil: "தமிழ்"
        }
    }

    /// Finds a language by its code, its English name or its own name.
    package init?(parsing text: String) {
        let wanted = text.lowercased()
        let names: [Language: String] = [.english: "english", .hindi: "hindi", .tamil: "tamil"]
        let found = Self.allCases.first {
            [$0.rawValue, $0.ownName.lowercased(), names[$0] ?? ""].contains(wanted)
        }
        guard let found else { return nil }
        self = found
    }
}
