/// A poll (NIP-88, kind 1068).
public struct Poll: Sendable, Hashable {
    /// A choice of a poll.
    public struct Option: Sendable, Hashable {
        /// The id by which votes name it.
        public let id: String
        /// The text to show.
        public let label: String
    }

    /// The question.
    public let question: String
    /// The choices, at least one; their ids are unique.
    public let options: [Option]
    /// Whether a vote may have several choices.
    public let allowsSeveral: Bool
    /// The time after which votes do not count; nil for never.
    public let endsAt: UnixTime?

    /// Reads a poll; nil for other messages and for polls without choices. Of choices with one id the first counts.
    public init?(_ message: MessageEvent) {
        guard message.kind == .poll else { return nil }
        var ids: Set<String> = []
        options = message.tags.all(named: "option").compactMap { tag in
            guard let id = tag.value, ids.insert(id).inserted else { return nil }
            return Option(id: id, label: tag.values.dropFirst(2).first ?? id)
        }
        guard !options.isEmpty else { return nil }
        question = message.content
        allowsSeveral = message.tags.first(named: "polltype")?.value == "multiplechoice"
        endsAt = message.tags.first(named: "endsAt")?.value.flatMap { Int64($0) }.map { UnixTime($0) }
    }
}

/// A vote in a poll (NIP-88, kind 1018). Of several votes of a member the newest counts.
public struct PollVote: Sendable, Hashable {
    /// The id of the poll.
    public let poll: EventID
    /// The ids of the choices as stated, without duplicates.
    public let choices: [String]
    /// The time stated by the voter.
    public let createdAt: UnixTime

    /// Reads a vote; nil for other messages and for a vote that names no poll.
    public init?(_ message: MessageEvent) {
        guard message.kind == .pollVote, let target = message.tags.first(named: "e")?.value,
            let poll = try? EventID(hex: target)
        else { return nil }
        self.poll = poll
        createdAt = message.createdAt
        var seen: Set<String> = []
        choices = message.tags.all(named: "response").compactMap(\.value).filter { seen.insert($0).inserted }
    }

    /// Returns the choices that count in the poll that the vote names: those that it offers, only the first unless
    /// several are allowed, and none after its end.
    public func options(of poll: Poll) -> [Poll.Option] {
        if let endsAt = poll.endsAt, createdAt > endsAt { return [] }
        let offered = choices.compactMap { choice in poll.options.first { $0.id == choice } }
        return poll.allowsSeveral ? offered : Array(offered.prefix(1))
    }
}
