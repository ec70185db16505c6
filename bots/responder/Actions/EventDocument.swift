import BotKit

/// The JSON input of webhooks and programs. The version increases when a member changes its meaning or is removed;
/// members may be added without a new version.
enum EventDocument {
    static let version: Int64 = 1

    /// - Parameter delivery: identifies this request; the same when it is repeated after a crash.
    static func json(
        of occasion: Occasion, rule: String, delivery: String, answer: String, names: ChatNames
    ) -> JSONValue {
        var event: JSONValue = ["type": .string(occasion.cause.rawValue), "id": .string(occasion.id)]
        event.set("at", .integer(occasion.at))
        if let sender = occasion.sender { event.set("sender", names.person(sender, in: occasion.chats.first)) }
        if let message = occasion.message {
            event.set("kind", .integer(Int64(message.kind.rawValue)))
            event.set("text", .string(message.content))
        }
        if let command = occasion.command {
            event.set("command", .string(command))
            event.set("arguments", .string(occasion.arguments))
        }
        if !occasion.pieces.isEmpty { event.set("pieces", .array(occasion.pieces.map { .string($0) })) }
        if !occasion.subjects.isEmpty {
            event.set("who", .array(occasion.subjects.map { names.person($0, in: occasion.chats.first) }))
        }
        var document: JSONValue = ["version": .integer(version), "delivery": .string(delivery)]
        document.set("account", .string(names.accountName))
        document.set("rule", .string(rule))
        document.set("event", event)
        document.set("chats", .array(occasion.chats.map(names.chatDocument)))
        if !answer.isEmpty { document.set("answer", .string(answer)) }
        return document
    }
}

extension JSONValue {
    /// Sets a member of an object; does nothing for other values.
    mutating func set(_ name: String, _ value: JSONValue) {
        guard case .object(var object) = self else { return }
        object[name] = value
        self = .object(object)
    }
}
