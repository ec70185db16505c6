/// A conversation under way as it is kept.
package struct StoredConversation: Sendable, Hashable {
    package let name: String
    package let chatID: String
    /// Hex of the key of whom it is with.
    package let person: String
    /// As the conversation encodes it.
    package let state: [UInt8]

    package static func scope(ofBot bot: String) -> String { "\(bot)/conversations" }

    init(name: String, chatID: String, person: String, state: [UInt8]) {
        self.name = name
        self.chatID = chatID
        self.person = person
        self.state = state
    }

    /// Its key in the scope of conversations.
    package var storedName: String { "\(chatID)/\(person)/\(name)" }

    package var stored: [UInt8] {
        JSONValue.object([
            "v": 1, "name": .string(name), "chat": .string(chatID), "person": .string(person),
            "state": .string(String(decoding: state, as: UTF8.self)),
        ]).json()
    }

    /// Nil for what is no conversation.
    package init?(stored: [UInt8]) {
        guard let json = try? JSONValue(json: stored), json["v"]?.integer == 1, let name = json["name"]?.string,
            let chatID = json["chat"]?.string, let person = json["person"]?.string, let state = json["state"]?.string
        else { return nil }
        self.init(name: name, chatID: chatID, person: person, state: Array(state.utf8))
    }
}
