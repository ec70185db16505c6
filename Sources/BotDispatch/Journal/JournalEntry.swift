import BotKit
import Foundation
import Nostr
import PikaCore

/// What became of one event, for one bot or for all of them. Ids, never content.
package struct JournalEntry: Codable, Hashable, Sendable {
    package enum Fate: String, Codable, Hashable, Sendable, CaseIterable {
        /// The bot did not get it.
        case ignored
        /// A handler took it.
        case handled
        /// A handler took it and did not finish.
        case failed
        /// The core took nothing from it.
        case refused
        /// The core keeps it until it can be opened.
        case waiting
        /// The core kept it, and does not any more.
        case gaveUp = "gave_up"
    }

    /// Why an event waits: too many handlers of the bot hang.
    static let stuck = "stuck"
    /// Why an event was given up: processes died with it in hand. Also a metric's label.
    static let crashed = "crashed"

    /// Unix seconds.
    package var at: Int64
    /// The inner event's id in hex, or what stands for it; nil if it was never opened.
    package var id: String?
    /// The id in hex of the event as relays have it; nil if it is not known.
    package var wrapper: String?
    /// The first eight digits; nil if it belongs to no known chat.
    package var chat: String?
    /// Nil for what concerns all bots.
    package var bot: String?
    package var fate: Fate
    package var reason: String
    package var detail: String

    init(
        _ event: CoreEvent, at: Int64, bot: String?, fate: Fate, reason: String, detail: String
    ) {
        self.at = at
        (id, wrapper) = event.journalNames
        chat = String(event.chatID.prefix(8))
        self.bot = bot
        self.fate = fate
        self.reason = reason
        self.detail = detail
    }

    init(_ notice: CoreNotice) {
        at = notice.at
        id = notice.inner?.hex
        wrapper = notice.event.hex
        chat = notice.chatID.map { String($0.prefix(8)) }
        bot = nil
        fate =
            switch notice.fate {
            case .refused: .refused
            case .waiting: .waiting
            case .gaveUp: .gaveUp
            }
        reason = notice.reason
        detail = String(notice.detail.prefix(200))
    }

    /// Whether one of its ids begins like this; hex in small letters.
    func matches(_ prefix: String) -> Bool {
        id?.hasPrefix(prefix) == true || wrapper?.hasPrefix(prefix) == true
    }
}

extension CoreEvent {
    var journalNames: (id: String, wrapper: String?) {
        switch content {
        case .message(let message): (inputID, message.wrapper?.hex)
        case .commit(let commit): (inputID, commit.id.hex)
        case .call(let call): (inputID, call.wrapper?.hex)
        case .joined: (inputID, nil)
        }
    }
}
