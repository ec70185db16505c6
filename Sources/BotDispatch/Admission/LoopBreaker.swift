import Nostr
import PikaCore

/// Ends what bots say to each other without end. Pure; its memory is bounded.
///
/// Three brakes: **depth**, which the marker carries (``AutomationMarker``): nothing deeper than ``maximumDepth`` is
/// answered; the **pair budget** between this account and another one that marks what it sends; and, for accounts that
/// do not, **pace**: many times in a row an answer to our answer within ``quickSeconds`` is no person. A budget is
/// whole again after ``quietSeconds`` without an answer of ours; the one of a pair also when a person speaks.
///
/// Nothing is stored: the depth is in the messages themselves, so a restart, at which budgets are whole again, lets a
/// loop go on for one more budget at most.
struct LoopBreaker: Sendable {
    static let maximumDepth = 4
    static let quietSeconds: Int64 = 30
    static let quickSeconds: Int64 = 2
    /// How many times the budget of a pair somebody may have who may be a person.
    static let unmarkedFactor = 10

    enum Trip: Hashable, Sendable {
        case depth(Int)
        case pair(budget: Int)
        case pace(exchanges: Int)
    }

    private struct Pair: Hashable, Sendable {
        let chatID: String
        let sender: PublicKey
    }

    fileprivate struct Exchange: Sendable {
        /// Messages in a row between the two, in both directions.
        var inRow = 0
        /// Which words of a person the row comes after.
        var humanTurn = 0
        /// Answers in a row to answers of ours that came quickly.
        var quick = 0
        /// Unix seconds; nil if this account has not answered yet.
        var answeredAt: Int64?
        /// The newest event that had come when this account answered: what is not newer was not said in response.
        var answeredAfter: Int64 = 0
        /// Whether this account was the last of the two to speak.
        var isAnswered = false
        var hasTripped = false
    }

    private var exchanges = RecentEntries<Pair, Exchange>(capacity: 4_096)
    /// How often people have spoken, by chat.
    private var humanTurns = RecentEntries<String, Int>(capacity: 4_096)

    /// How deep the latest words of a bot are to which a chat has come since a person spoke.
    private var depths = RecentEntries<String, Int>(capacity: 4_096)

    /// 0 if a person was the last to speak in a chat, or nobody.
    mutating func depth(in chatID: String) -> Int { depths[chatID] ?? 0 }

    /// A message of another account came to its turn.
    mutating func receive(_ message: MessageEvent, _ event: CoreEvent) {
        let pair = Pair(chatID: event.chatID, sender: message.sender)
        let turn = humanTurns[event.chatID] ?? 0
        var exchange = exchanges[pair] ?? Exchange(humanTurn: turn)
        if let answeredAt = exchange.answeredAt, event.receivedAt - answeredAt > Self.quietSeconds {
            exchange = Exchange(humanTurn: turn)
        }
        if let depth = AutomationMarker.depth(of: message.tags) {
            depths[event.chatID] = depth
            if exchange.humanTurn != turn { (exchange.inRow, exchange.hasTripped) = (0, false) }
            exchange.humanTurn = turn
        } else {
            exchange.takePace(of: event)
            // Whoever answers at once may be a bot; its words give nobody a new budget.
            if exchange.quick < 3 {
                humanTurns[event.chatID] = turn &+ 1
                depths[event.chatID] = nil
            }
        }
        exchanges[pair] = exchange
    }

    /// Why a message is not to be answered; nil if it may be. `isNew` is false when the row had tripped before.
    mutating func objection(
        to message: MessageEvent, in chatID: String, budget: Int
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

    /// A message was answered in its chat.
    ///
    /// - Parameter newest: the newest inbox row of which this account knew.
    mutating func answer(_ message: MessageEvent, in chatID: String, at now: Int64, newest: Int64) {
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
    fileprivate mutating func takePace(of event: CoreEvent) {
        guard isAnswered, let answeredAt, event.inboxID > answeredAfter else { return }
        isAnswered = false
        if event.receivedAt - answeredAt <= LoopBreaker.quickSeconds {
            quick += 1
        } else {
            (quick, hasTripped) = (0, false)
        }
    }
}
