import BotKit

/// Answers canaries with this account's view of the group.
struct CanaryMirror: Sendable {
    let settings: MirrorSettings

    init(_ settings: MirrorSettings) {
        self.settings = settings
    }

    /// Answers a canary of a configured sender; ignores all other messages.
    func answer(_ message: MessageEvent, _ context: BotContext) {
        guard settings.senders.contains(message.sender), let canary = CanaryMessage(content: message.content),
            let chat = context.chat,
            let content = try? CanaryMessage(
                series: canary.series, number: canary.number, view: GroupView(chat)
            ).content
        else { return }
        context.send(content, kind: .canaryAnswer)
    }
}
