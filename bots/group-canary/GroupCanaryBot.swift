package import BotKit

/// Measures an encrypted group from inside: sends numbered canaries, which mirrors answer, and checks which messages
/// another bot answers and which it ignores.
package struct GroupCanaryBot: Bot {
    /// The bot's name in configurations.
    package static let name = "group-canary"
    /// The module of `/probe?module=…`; the target is the name of a group in the settings.
    static let module = "group-canary"

    private enum Role: Sendable {
        case sender(CanarySender)
        case mirror(CanaryMirror)
    }

    private let role: Role

    /// Creates a sender or a mirror. Throws ``BotSettingsError`` with all problems of the settings.
    package init(settings: BotSettings) throws {
        switch try CanarySettings(settings) {
        case .sender(let settings): role = .sender(CanarySender(settings))
        case .mirror(let settings): role = .mirror(CanaryMirror(settings))
        }
    }

    /// The handlers of the sender or the mirror.
    package var handlers: [Handler] {
        switch role {
        case .mirror(let mirror):
            OnInnerEvent(.kind(.canary)) { message, context in mirror.answer(message, context) }
        case .sender(let sender):
            // Scheduled messages are not replies, so loop breakers do not count them.
            OnSchedule("canary", .every(sender.settings.every)) { try await sender.sendCanaries($0) }
            if sender.settings.groups.contains(where: { !$0.checks.isEmpty }) {
                OnSchedule("check", .every(sender.settings.checksEvery)) { try await sender.runChecks($0) }
            }
            OnInnerEvent(.kind(.canaryAnswer)) { try await sender.receive($0, $1) }
            OnInnerEvent(.kind(.chatMessage, .reaction, .hypernote)) { try await sender.notice($0, $1) }
            OnOutcome(.action("create_group_chat")) { try await sender.receive($0, $1) }
            OnProbe(Self.module) { try await sender.answer($0, $1) }
        }
    }
}
