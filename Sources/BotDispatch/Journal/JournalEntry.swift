import BotKit
import Foundation
package import Nostr
import PikaCore

/// The fate of one event, for one bot or for all of them. Contains ids, never content.
package struct JournalEntry: Codable, Hashable, Sendable {
    package enum Fate: String, Codable, Hashable, Sendable, CaseIterable {
        /// The bot did not receive it.
        case ignored
        /// A handler handled it.
        case handled
        /// A handler accepted it but failed.
        case failed
        /// An action that its handler requested failed, or relays refused this event of the account.
        case actionFailed = "action_failed"
        /// The core rejected it.
        case refused
        /// It waits: in the core until it can be decrypted, or for a bot.
        case waiting
        /// It was abandoned: after the core had parked it, or because it crashed the process.
        case gaveUp = "gave_up"
    }

    /// A message leaving its group's history, or returning to it.
    package enum Change: String, Codable, Hashable, Sendable, CaseIterable {
        /// The message left the history.
        case withdrawal
        /// The message came back.
        case restoration
    }

    /// The time of the entry.
    package var at: UnixTime
    /// The inner event's id in hex, or its substitute; nil if it was never decrypted.
    package var id: String?
    /// The id in hex of the event on relays; nil if it is unknown.
    package var wrapper: String?
    /// The first eight digits of the chat id, or `feed/` and the feed's name; nil if the event belongs to no known chat.
    package var chat: String?
    /// The bot's label; nil if the entry applies to all bots.
    package var bot: String?
    package var fate: Fate
    /// The code of the reason: the raw value of ``knownReason``, or the code of an error of Marmot or MLS.
    package var reason: String
    package var detail: String
    /// The change of the message that the entry is about; nil if it is about the event itself.
    package var change: Change?

    /// Creates the entry of a bot that did not receive the event; of all bots if `bot` is nil.
    init(_ event: CoreEvent, at: UnixTime, bot: String?, ignored reason: IgnoreReason, detail: String) {
        self.init(event, at: at, bot: bot, fate: .ignored, code: reason.rawValue, detail: detail)
    }

    /// Creates the entry of a bot that received the event; of all bots if `bot` is nil.
    init(_ event: CoreEvent, at: UnixTime, bot: String?, _ reason: HandlingReason, detail: String) {
        self.init(event, at: at, bot: bot, fate: reason.fate, code: reason.rawValue, detail: detail)
    }

    private init(_ event: CoreEvent, at: UnixTime, bot: String?, fate: Fate, code: String, detail: String) {
        self.at = at
        (id, wrapper) = event.journalNames
        chat = event.journalChat
        self.bot = bot
        self.fate = fate
        reason = code
        self.detail = detail
        change = event.journalChange
    }

    init(_ notice: CoreNotice) {
        at = notice.at
        id = notice.inner?.hex
        wrapper = notice.event.hex
        chat = notice.chatID.map { String($0.rawValue.prefix(8)) }
        bot = nil
        fate =
            switch notice.fate {
            case .refused: .refused
            case .waiting: .waiting
            case .gaveUp: .gaveUp
            case .actionFailed: .actionFailed
            }
        reason = notice.reason
        detail = String(notice.detail.prefix(200))
    }

    /// Returns whether one of its ids has this prefix, in lower-case hex.
    func matches(_ prefix: String) -> Bool {
        id?.hasPrefix(prefix) == true || wrapper?.hasPrefix(prefix) == true
    }
}

extension CoreEvent {
    var journalNames: (id: String, wrapper: String?) {
        switch content {
        case .message(let message): (inputID, message.wrapper?.hex)
        case .commit(let commit): (inputID, commit.id.hex)
        case .proposal(let proposal): (inputID, proposal.id.hex)
        case .call(let call): (inputID, call.wrapper?.hex)
        case .joined: (inputID, nil)
        case .outcome(let outcome): (outcome.result.messageID?.hex ?? outcome.action.rawValue, nil)
        case .feed(let item): (item.eventID.hex, nil)
        case .withdrawn(let withdrawn): (withdrawn.id.hex, withdrawn.wrapper?.hex)
        }
    }

    /// The chat or feed of the event, shortened.
    fileprivate var journalChat: String {
        if case .feed = content { return lane }
        return String(chatID.rawValue.prefix(8))
    }

    fileprivate var journalChange: JournalEntry.Change? {
        guard case .withdrawn(let withdrawn) = content else { return nil }
        return withdrawn.isRestored ? .restoration : .withdrawal
    }
}
