public import BotKit

/// Greets newcomers, and reminds people: `/remind 10m the tea`.
public struct ReminderBot: Bot {
    public static let name = "reminder"
    private let greeting: String

    public init(settings: BotSettings) throws {
        let reader = SettingsReader(settings)
        greeting = reader.string("greeting", default: "welcome")
        try reader.finish()
    }

    public var handlers: [Handler] {
        OnMembership { change, context in
            guard !change.joined.isEmpty else { return }
            context.send(greeting)
        }
        OnCommand("remind", help: "Reminds you of something.", arguments: [.duration("after"), .rest("text")]) {
            command, context in
            guard let after = command.duration("after"), let text = command.string("text") else { return }
            context.setTimer("reminder", key: command.message.id.hex, after: after, text: text)
            try context.react("👍")
        }
        OnTimer("reminder") { run, context in
            context.send("time for \(run.text)")
        }
        OnCommand("count", help: "Counts up in this chat.") { _, context in
            let key = "count/\(context.chatID)"
            let count = Int(try await context.text(key) ?? "0") ?? 0
            context.setText(String(count + 1), forKey: key)
            context.reply("\(count + 1)")
        }
    }
}
