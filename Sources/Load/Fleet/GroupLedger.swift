/// What was sent into one group, and who has it: the truth that deliveries are held against.
///
/// Everybody who is a member when a message is sent, and stays one, is to get it once, and each sender's messages in
/// their order. Who leaves is owed nothing more from when that was decided.
struct GroupLedger: Sendable {
    enum Membership: Sendable, Hashable {
        /// Invited, or being added.
        case coming
        case member
        /// Leaving, or out.
        case leaving
    }

    /// A message that not everybody has.
    private struct Open: Sendable {
        let times: SendTimes
        var owed: MemberSet
        /// Whether a relay has it, as far as is known.
        var isOut = false
    }

    /// What a delivery was worth.
    struct Arrival: Sendable, Hashable {
        let verdict: SequenceTracker.Verdict
        /// When it was sent, if it was owed to this member.
        let owedSince: SendTimes?
        let isFirstForMember: Bool
    }

    let number: Int
    let founder: Int
    /// Deliveries that are owed and have not come.
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

    /// From now on it is owed nothing, nor is anybody what it has sent and no relay has yet: the group may be rid of it
    /// before. Returns how many deliveries are not asked for any more.
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

    /// It did not leave, or was not added, after all.
    mutating func forget(_ agent: Int) { memberships[agent] = nil }

    var members: [Int] { memberships.filter { $0.value == .member }.map(\.key).sorted() }

    // MARK: Messages

    /// A message goes out; returns what it is to say of itself, and to how many it is owed. Nil if the sender is no
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

    /// Whether somebody is to get the message still.
    func isOwed(_ stamp: MessageStamp) -> Bool { open[stamp] != nil }

    /// A relay has the message.
    mutating func wentOut(_ stamp: MessageStamp) { open[stamp]?.isOut = true }

    /// The message never went out: nobody is owed it. Returns how many were.
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

/// When a message was sent, in the time of the run.
struct SendTimes: Sendable, Hashable {
    let sent: Duration
    /// When the plan wanted it; nil where nobody plans, but somebody waits his turn.
    var intended: Duration?
}
