import BotKit

/// The JSON input of webhooks and programs. The version increases when a member changes its meaning or is removed;
/// members may be added without a new version.
enum EventDocument {
    static let version: Int64 = 1

    /// - Parameter delivery: identifies this request; the same when it is repeated after a crash.
    static func json(
        of triggerContext: TriggerContext, rule: String, delivery: String, answer: String, names: ChatNames
    ) -> JSONValue {
        var event: JSONValue = ["type": .string(triggerContext.cause.rawValue), "id": .string(triggerContext.id)]
        event.set("at", .integer(triggerContext.at.seconds))
        if let sender = triggerContext.sender {
            event.set("sender", names.person(sender, in: triggerContext.chats.first))
        }
        if let message = triggerContext.message {
            event.set("kind", .integer(Int64(message.kind.rawValue)))
            event.set("text", .string(message.content))
        }
        if let item = triggerContext.item {
            event.set("feed", .string(item.feed))
            if let name = item.name { event.set("name", .string(name)) }
            if let type = item.contentType { event.set("contentType", .string(type)) }
            if let text = item.text { event.set("text", .string(text)) }
        }
        if let command = triggerContext.command {
            event.set("command", .string(command))
            event.set("arguments", .string(triggerContext.arguments))
        }
        if !triggerContext.positionalValues.isEmpty {
            event.set("pieces", .array(triggerContext.positionalValues.map { .string($0) }))
        }
        if !triggerContext.subjects.isEmpty {
            event.set("who", .array(triggerContext.subjects.map { names.person($0, in: triggerContext.chats.first) }))
        }
        var document: JSONValue = ["version": .integer(version), "delivery": .string(delivery)]
        document.set("account", .string(names.accountName))
        document.set("rule", .string(rule))
        document.set("event", event)
        document.set("chats", .array(triggerContext.chats.map(names.chatDocument)))
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
