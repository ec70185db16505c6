/// What mirrors have answered in a group; written by the chat's own handlers alone.
struct HeardLog: Codable, Sendable, Hashable {
    /// What an answer was like; the raw value is a label of metrics.
    enum Answer: String, Sendable, CaseIterable {
        case inOrder = "in_order"
        /// A later canary was answered before.
        case outOfOrder = "out_of_order"
        case duplicate
        /// After the canary's time.
        case late
        /// To a canary that was not sent, or too long ago.
        case strange
    }

    struct Mirror: Codable, Sendable, Hashable {
        /// Of the latest canaries, those that it has answered.
        var answered: [Int64] = []
        var highest: Int64 = 0
        var disorder = 0
        var duplicates = 0
        var view: GroupView?
        /// Unix milliseconds since when it has seen another epoch or other members than the sender; nil if it agrees.
        var differsSince: Int64?
        /// Unix milliseconds of its latest answer that said so.
        var differedAt: Int64?

        /// For how long it was seen to differ, in milliseconds: between answers, so that one who answers no more is only
        /// silent.
        var difference: Int64 { max(0, (differedAt ?? 0) - (differsSince ?? differedAt ?? 0)) }
    }

    var series: String
    /// By the hexadecimal public key.
    var mirrors: [String: Mirror] = [:]

    init(series: String) {
        self.series = series
    }

    /// Takes an answer in; the milliseconds that it took are nil for what is no first answer in time.
    mutating func take(
        _ message: CanaryMessage, from mirror: String, sent: SentLog, own: GroupView, now: Int64, timeout: Int64
    ) -> (Answer, Int64?) {
        if series != sent.series { self = HeardLog(series: sent.series) }
        guard message.series == sent.series, let sentAt = sent.time(of: message.number) else { return (.strange, nil) }
        var entry = mirrors[mirror] ?? Mirror()
        defer { mirrors[mirror] = entry }
        guard !entry.answered.contains(message.number) else {
            entry.duplicates += 1
            return (.duplicate, nil)
        }
        if let oldest = sent.latest.first?.number { entry.answered.removeAll { $0 < oldest } }
        entry.answered.append(message.number)
        entry.note(message.view, own: own, now: now)
        let isInOrder = message.number > entry.highest
        entry.highest = max(entry.highest, message.number)
        if !isInOrder { entry.disorder += 1 }
        let took = max(0, now - sentAt)
        guard took <= timeout else { return (.late, nil) }
        return (isInOrder ? .inOrder : .outOfOrder, took)
    }
}

extension HeardLog.Mirror {
    /// A change that is under way makes a difference too, but not for long.
    fileprivate mutating func note(_ view: GroupView, own: GroupView, now: Int64) {
        self.view = view
        (differsSince, differedAt) = view == own ? (nil, nil) : (differsSince ?? now, now)
    }
}
