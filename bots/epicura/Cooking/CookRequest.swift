/// `RECIPE [SERVINGS] [@APPLIANCE]`, as a person writes it after a command.
struct CookRequest: Hashable, Sendable {
    /// A number of the last list, an id or words of a title.
    let recipe: String
    let servings: Int?
    /// A name or number; nil if none was written.
    let appliance: String?

    init(_ text: String) {
        var words = text.split { $0.isWhitespace }.map(String.init)
        if let start = words.firstIndex(where: { $0.hasPrefix("@") }) {
            appliance = String(words[start...].joined(separator: " ").dropFirst())
            words.removeSubrange(start...)
        } else {
            appliance = nil
        }
        // A single number is one of the list.
        if words.count > 1, let last = words.last, let number = Int(last), (1...100).contains(number) {
            servings = number
            words.removeLast()
        } else {
            servings = nil
        }
        recipe = words.joined(separator: " ")
    }
}
