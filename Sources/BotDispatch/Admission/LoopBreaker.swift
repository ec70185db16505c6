import Nostr
import PikaCore

/// Stops endless exchanges between bots. Pure; its memory is bounded.
///
/// It applies three limits: **depth**, from the marker (``AutomationMarker``): messages of depth ``maximumDepth`` or
/// more are not answered; the **pair budget** between this account and another one that marks its messages; and, for
/// accounts that do not mark them, **pace**: many consecutive replies to this account's replies within ``quickSeconds``
/// indicate a bot. A budget is restored after ``quietSeconds`` without a reply of this account; a pair's budget also
/// when a person writes.
///
/// Nothing is stored: the depth is part of the messages, so a restart, which restores the budgets, extends a loop by
/// one budget at most.
struct LoopBreaker: Sendable {
    static let maximumDepth = 4
    static let quietSeconds: Int64 = 30
    static let quickSeconds: Int64 = 2
    /// The factor on the pair budget for an account that may be a person.
    static let unmarkedFactor = 10

    enum Trip: Hashable, Sendable {
        case depth(Int)
        case pair(budget: Int)
        case pace(exchanges: Int)
    }

    private struct Pair: Hashable, Sendable {
        let chatID: ChatID
        let sender: PublicKey
    }

    fileprivate struct Exchange: Sendable {
        /// Consecutive messages between the two, in both directions.
        var inRow = 0
        /// The human turn of the chat at which the row started.
        var humanTurn = 0
        /// Consecutive quick replies to this account's replies.
        var quick = 0
        /// The time of this account's last reply; nil before the first one.
        var answeredAt: UnixTime?
        /// The newest event received at the time of this account's last reply: earlier events cannot be responses to
        /// it.
        var answeredAfter: Int64 = 0
        /// Whether this account was the last of the two to speak.
        var isAnswered = false
        var hasTripped = false
    }

    private var exchanges = RecentEntries<Pair, Exchange>(capacity: 4_096)
    /// The number of human messages, by chat.
    private var humanTurns = RecentEntries<ChatID, Int>(capacity: 4_096)

    /// The depth of the latest bot message in a chat since a person spoke.
    private var depths = RecentEntries<ChatID, Int>(capacity: 4_096)

    /// Returns the current depth in a chat: 0 if a person spoke last, or the chat is empty.
    mutating func depth(in chatID: ChatID) -> Int { depths[chatID] ?? 0 }

    /// Records a message of another account when its processing starts.
    mutating func receive(_ message: MessageEvent, _ event: CoreEvent) {
        let pair = Pair(chatID: event.chatID, sender: message.sender)
        let turn = humanTurns[event.chatID] ?? 0
        var exchange = exchanges[pair] ?? Exchange(humanTurn: turn)
        if let answeredAt = exchange.answeredAt, event.receivedAt.seconds(since: answeredAt) > Self.quietSeconds {
            exchange = Exchange(humanTurn: turn)
        }
        if let depth = AutomationMarker.depth(of: message.tags) {
            depths[event.chatID] = depth
            if exchange.humanTurn != turn { (exchange.inRow, exchange.hasTripped) = (0, false) }
            exchange.humanTurn = turn
        } else {
            exchange.updatePace(of: event)
            // An author who always replies at once may be a bot: its messages do not restore budgets.
            if exchange.quick < 3 {
                humanTurns[event.chatID] = turn &+ 1
                depths[event.chatID] = nil
            }
        }
        exchanges[pair] = exchange
    }

    /// Returns the limit that forbids a reply to a message; nil if a reply is allowed. `isNew` is false if the same
    /// row has tripped before.
    mutating func objection(
        to message: MessageEvent, in chatID: ChatID, budget: Int
    ) -> (trip: Trip, isNew: Bool)? {
        let pair = Pair(chatID: chatID, sender: message.sender)
        var exchange = exchanges[pair] ?? Exchange()
        let trip: Trip
        if let depth = AutomationMarker.depth(of: message.tags) {
            if depth >= Self.maximumDepth { return (.depth(depth), true) }
            guard exchange.inRow >= max(0, budget) - 1 else { return nil }
            trip = .pair(budget: budget)
        } else {
            let (limit, overflow) = max(1, budget).multipliedReportingOverflow(by: Self.unmarkedFactor)
            guard !overflow, exchange.quick >= limit else { return nil }
            trip = .pace(exchanges: exchange.quick)
        }
        let isNew = !exchange.hasTripped
        exchange.hasTripped = true
        exchanges[pair] = exchange
        return (trip, isNew)
    }

    /// Records a reply to a message in its chat.
    ///
    /// - Parameter newest: the newest inbox row that this account has received.
    mutating func answer(_ message: MessageEvent, in chatID: ChatID, at now: UnixTime, newest: Int64) {
        let pair = Pair(chatID: chatID, sender: message.sender)
        var exchange = exchanges[pair] ?? Exchange(humanTurn: humanTurns[chatID] ?? 0)
        if AutomationMarker.depth(of: message.tags) != nil { exchange.inRow += 2 }
        exchange.answeredAt = now
        exchange.answeredAfter = newest
        exchange.isAnswered = true
        exchanges[pair] = exchange
    }
}

extension LoopBreaker.Exchange {
    fileprivate mutating func updatePace(of event: CoreEvent) {
        guard isAnswered, let answeredAt, event.inboxID > answeredAfter else { return }
        isAnswered = false
        if event.receivedAt.seconds(since: answeredAt) <= LoopBreaker.quickSeconds {
            quick += 1
        } else {
            (quick, hasTripped) = (0, false)
        }
    }
}
