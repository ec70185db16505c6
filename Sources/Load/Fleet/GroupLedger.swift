/// Expected and actual deliveries of one group.
///
/// Everybody who is a member when a message is sent and who stays one must receive it once, and each sender's messages
/// in order. Nothing is expected for a leaving member from the moment the decision is made.
struct GroupLedger: Sendable {
    enum Membership: Sendable, Hashable {
        /// Invited or being added.
        case coming
        case member
        /// Leaving, or out.
        case leaving
    }

    /// A message with outstanding deliveries.
    private struct Open: Sendable {
        let times: SendTimes
        var owed: MemberSet
        /// Whether a relay is known to have accepted it.
        var isOut = false
    }

    /// Evaluation of a delivery.
    struct Arrival: Sendable, Hashable {
        let verdict: SequenceTracker.Verdict
        /// When it was sent, if this delivery was expected.
        let owedSince: SendTimes?
        let isFirstForMember: Bool
    }

    let number: Int
    let founder: Int
    /// Number of expected deliveries that have not happened.
    private(set) var outstanding = 0
    private(set) var memberships: [Int: Membership] = [:]
    private var places: [Int: Int] = [:]
    private var open: [MessageStamp: Open] = [:]
    private var sent: [Int: Int] = [:]
    private var trackers: [SenderAndReceiver: SequenceTracker] = [:]
    private var haveHeard: Set<Int> = []

    private struct SenderAndReceiver: Hashable {
        let sender: Int
        let receiver: Int
    }

    init(number: Int, founder: Int) {
        self.number = number
        self.founder = founder
    }

    // MARK: Members

    mutating func invited(_ agent: Int) { memberships[agent] = .coming }

    mutating func joined(_ agent: Int) {
        memberships[agent] = .member
        if places[agent] == nil { places[agent] = places.count }
        haveHeard.remove(agent)
    }

    /// Stops expecting deliveries to the agent, and deliveries of its messages that no relay has accepted, because it
    /// may be removed before they are sent. Returns the number of deliveries no longer expected.
    mutating func leaves(_ agent: Int) -> Int {
        memberships[agent] = .leaving
        let unsent = open.filter { $0.key.sender == agent && !$0.value.isOut }.keys
        var excused = unsent.reduce(0) { $0 + withdraw($1) }
        guard let place = places[agent] else { return excused }
        for stamp in Array(open.keys) where open[stamp]?.owed.remove(place) == true {
            excused += 1
            outstanding -= 1
            closeIfDone(stamp)
        }
        return excused
    }

    /// Undoes a departure or an invitation that failed.
    mutating func forget(_ agent: Int) { memberships[agent] = nil }

    var members: [Int] { memberships.filter { $0.value == .member }.map(\.key).sorted() }

    // MARK: Messages

    /// Registers a message; returns its stamp and the number of expected deliveries. Returns nil if the sender is not a
    /// member.
    mutating func send(from sender: Int, _ times: SendTimes) -> (stamp: MessageStamp, owed: Int)? {
        guard memberships[sender] == .member else { return nil }
        let stamp = MessageStamp(sender: sender, sequence: sent[sender] ?? 0)
        sent[sender] = stamp.sequence + 1
        var owed = MemberSet()
        for (agent, membership) in memberships where agent != sender && membership == .member {
            if let place = places[agent] { owed.insert(place) }
        }
        outstanding += owed.count
        if !owed.isEmpty { open[stamp] = Open(times: times, owed: owed) }
        return (stamp, owed.count)
    }

    /// Returns whether deliveries of the message are outstanding.
    func isOwed(_ stamp: MessageStamp) -> Bool { open[stamp] != nil }

    /// Notes that a relay has accepted the message.
    mutating func wentOut(_ stamp: MessageStamp) { open[stamp]?.isOut = true }

    /// Withdraws a message that was never sent; returns the number of deliveries no longer expected.
    mutating func withdraw(_ stamp: MessageStamp) -> Int {
        let owed = open.removeValue(forKey: stamp)?.owed.count ?? 0
        outstanding -= owed
        return owed
    }

    mutating func received(_ stamp: MessageStamp, by receiver: Int) -> Arrival {
        let pair = SenderAndReceiver(sender: stamp.sender, receiver: receiver)
        let verdict = trackers[pair, default: SequenceTracker()].note(stamp.sequence)
        var owedSince: SendTimes?
        wentOut(stamp)
        if let place = places[receiver], open[stamp]?.owed.remove(place) == true {
            owedSince = open[stamp]?.times
            outstanding -= 1
            closeIfDone(stamp)
        }
        return Arrival(verdict: verdict, owedSince: owedSince, isFirstForMember: haveHeard.insert(receiver).inserted)
    }

    private mutating func closeIfDone(_ stamp: MessageStamp) {
        if open[stamp]?.owed.isEmpty == true { open[stamp] = nil }
    }
}

/// When a message was sent, as time since the start of the run.
struct SendTimes: Sendable, Hashable {
    let sent: Duration
    /// When it was due by the plan; nil in the closed model.
    var intended: Duration?
}
