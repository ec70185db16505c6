import Appliance
import BotKit

extension KitchenState {
    func language(of chat: String, _ settings: EpicuraSettings) -> Language {
        household.chats[chat]?.language ?? settings.language
    }

    func text(
        _ key: TextKey, _ arguments: [String: String] = [:], for chat: String, _ settings: EpicuraSettings
    ) -> String {
        Texts.text(key, arguments, in: language(of: chat, settings))
    }

    /// The most notices that wait for the inbox; beyond it the oldest is dropped.
    private static let maximumNotices = 512

    /// Adds a notice; does nothing if it waits already.
    mutating func tell(_ notice: Notice) {
        guard !cooking.outbox.contains(where: { $0.id == notice.id }) else { return }
        cooking.outbox.append(notice)
        if cooking.outbox.count > Self.maximumNotices { cooking.outbox.removeFirst() }
    }

    /// Adds a notice with a text, which mentions these people.
    mutating func tell(
        _ id: String, _ chat: String, _ key: TextKey, _ arguments: [String: String] = [:], people: [String] = [],
        everyone: Bool = false, in settings: EpicuraSettings
    ) {
        let text = text(key, arguments, for: chat, settings)
        tell(Notice(id: id, chat: chat, .text(text, people: people, everyone: everyone)))
    }
}
