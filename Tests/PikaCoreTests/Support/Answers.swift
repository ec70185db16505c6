import BotTesting

extension LabMember {
    /// Answers each message of another sender once: "re: " and the message, as a reply.
    static let answering: Handler = { event in
        guard case .message(let message) = event.content, message.kind == .chatMessage else { return [] }
        return [
            HandlerEffect(
                id: "answer/\(message.id.hex)",
                operation: .send(chatID: event.chatID, .text("re: \(message.content)", replyingTo: message)))
        ]
    }
}
