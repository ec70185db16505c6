/// The answers of mirrors in a group; written only by the chat's own handlers.
struct AnswerLog: Codable, Sendable, Hashable {
    /// The kind of an answer; the raw value is a metric label.
    enum Answer: String, Sendable, CaseIterable {
        case inOrder = "in_order"
        /// A later canary was answered before it.
        case outOfOrder = "out_of_order"
        case duplicate
        /// The answer came after the canary's timeout.
        case late
        /// The canary was never sent, or too long ago.
        case strange
    }

    struct Mirror: Codable, Sendable, Hashable {
        /// The numbers of the latest canaries that it has answered.
        var answered: [Int64] = []
        var highest: Int64 = 0
        var disorder = 0
        var duplicates = 0
        var view: GroupView?
        /// Unix milliseconds when its epoch or members began to differ from the sender's; nil if they agree.
        var differsSince: Int64?
        /// Unix milliseconds of its latest answer with a difference.
        var differedAt: Int64?

        /// The duration of the difference in milliseconds, measured between answers, so that a mirror that stops
        /// answering does not count as diverging.
        var difference: Int64 { max(0, (differedAt ?? 0) - (differsSince ?? differedAt ?? 0)) }
    }

    var series: String
    /// The mirrors, by hexadecimal public key.
    var mirrors: [String: Mirror] = [:]

    init(series: String) {
        self.series = series
    }

    /// Records an answer. Returns its kind, and its round trip in milliseconds, which is nil unless it is a first
    /// answer in time.
    mutating func record(
        _ message: CanaryMessage, from mirror: String, sent: SentLog, own: GroupView, now: Int64, timeout: Int64
    ) -> (Answer, Int64?) {
        if series != sent.series { self = AnswerLog(series: sent.series) }
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

extension AnswerLog.Mirror {
    /// Records a mirror's view. A commit in progress causes a difference too, but only briefly.
    fileprivate mutating func note(_ view: GroupView, own: GroupView, now: Int64) {
        self.view = view
        (differsSince, differedAt) = view == own ? (nil, nil) : (differsSince ?? now, now)
    }
}
