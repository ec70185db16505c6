import Appliance
import BotKit

/// The one message of a session that shows its progress.
///
/// In groups of the second generation it is edited. The first generation has no edits: there it is sent again at each step
/// and pause, and small changes are not shown. The values of the bot connect actions, messages and sessions.
enum ProgressMessage {
    /// Shows a new progress.
    static func show(
        _ text: String, of session: String, isSmall: Bool, in chat: ChatID, _ context: BotContext
    ) async throws {
        let isEditable = context.snapshot.chatList.first { $0.chatID == chat }?.generation == .v2
        guard isEditable else {
            // An edit is not possible, and a message for each small change would be too much.
            if !isSmall { remember(context.send(text, to: chat), of: session, isProgress: true, context) }
            return
        }
        let (messageKey, textKey) = ("message/\(session)", "text/\(session)")
        if let known = try await context.text(messageKey) {
            guard let message = try? EventID(hex: known) else { return }
            context.send(text, kind: .edit, tags: [.event(message)], to: chat)
        } else if try await context.text(textKey) == nil {
            remember(context.send(text, to: chat), of: session, isProgress: true, context)
            context.setText(text, forKey: textKey)
        } else {
            // The message is on its way; its outcome brings the latest text.
            context.setText(text, forKey: textKey)
            context.setText(chat.rawValue, forKey: "late/\(session)")
        }
    }

    /// Connects an action with its session, until its outcome is known.
    static func remember(_ action: ActionID, of session: String, isProgress: Bool, _ context: BotContext) {
        context.setText(session, forKey: "action/\(action.rawValue)")
        // The end of a session ends its progress message too.
        guard !isProgress else { return }
        for key in ["message", "text", "late"] { context.setText(nil, forKey: "\(key)/\(session)") }
    }

    /// Connects the message of an action with its session, so that it can be edited and rated.
    static func received(
        _ outcome: OutcomeEvent, _ settings: EpicuraSettings, _ context: BotContext
    ) async throws {
        let actionKey = "action/\(outcome.action.rawValue)"
        guard let session = try await context.text(actionKey) else { return }
        guard let message = outcome.result.messageID, outcome.result.error == nil else {
            // A failed message may still be repeated by the core; the next progress is a new message.
            context.setText(nil, forKey: actionKey)
            context.setText(nil, forKey: "text/\(session)")
            return
        }
        context.setText(nil, forKey: actionKey)
        let kitchen = try await Kitchen.of(context, settings)
        try await kitchen.link(message, to: session)
        guard let text = try await context.text("text/\(session)") else { return }
        context.setText(message.hex, forKey: "message/\(session)")
        guard let chat = try await context.text("late/\(session)") else { return }
        context.setText(nil, forKey: "late/\(session)")
        context.send(text, kind: .edit, tags: [.event(message)], to: ChatID(rawValue: chat))
    }
}
