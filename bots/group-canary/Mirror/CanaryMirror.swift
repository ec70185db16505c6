import BotKit

/// Answers canaries with what this account knows of the group.
struct CanaryMirror: Sendable {
    let settings: MirrorSettings

    init(_ settings: MirrorSettings) {
        self.settings = settings
    }

    /// Who is not named, or writes something else, gets no answer.
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
