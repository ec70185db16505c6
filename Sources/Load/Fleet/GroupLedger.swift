/// Expected and actual deliveries of one group.
///
/// Every member whom the sender knows at the time of sending, and who stays a member, must receive the message once, and
/// each sender's messages in order. An invited agent can read only what members send after they have applied the commit
/// that adds it, which may be later than it joins. Nothing is expected for a leaving member from the moment the decision is
/// made.
struct GroupLedger: Sendable {
    enum Membership: Sendable, Hashable {
        /// Invited or being added.
        case joining
        case member
        /// Leaving, or gone.
        case leaving
    }

    /// A message with outstanding deliveries.
    private struct OpenMessage: Sendable {
        let times: SendTimes
        var expected: MemberSet
        /// Whether a relay is known to have accepted it.
        var isSent = false
    }

    /// Evaluation of a delivery.
    struct Arrival: Sendable, Hashable {
        let verdict: SequenceTracker.Verdict
        /// The message's send times; nil if this delivery was not expected.
        let expectedSince: SendTimes?
        let isFirstForMember: Bool
    }

    let number: Int
    let founder: Int
    /// Whether members may choose another branch than a message's after a relay has accepted it (second generation), so
    /// that it is lost unless its sender sends it again.
    let settlesBranches: Bool
    /// Number of expected deliveries that have not happened.
    private(set) var outstanding = 0
    private(set) var memberships: [Int: Membership] = [:]
    private var places: [Int: Int] = [:]
    private var open: [MessageStamp: OpenMessage] = [:]
    private var sent: [Int: Int] = [:]
    private var trackers: [SenderAndReceiver: SequenceTracker] = [:]
    private var receivers: Set<Int> = []
    /// Number of the change that last added an agent.
    private var additions: [Int: Int] = [:]
    private var changeCount = 0
    /// The agents that each agent knows as members.
    private var known: [Int: Set<Int>] = [:]
    /// Messages that their senders do not send again.
    private var abandoned: Set<MessageStamp> = []

    private struct SenderAndReceiver: Hashable {
        let sender: Int
        let receiver: Int
    }

    init(number: Int, founder: Int, settlesBranches: Bool = false) {
        self.number = number
        self.founder = founder
        self.settlesBranches = settlesBranches
    }

    // MARK: Members

    mutating func invited(_ agent: Int) { memberships[agent] = .joining }

    /// Records that one change of the group adds agents.
    mutating func adding(_ agents: [Int]) {
        changeCount += 1
        for agent in agents {
            additions[agent] = changeCount
            for other in known.keys { known[other]?.remove(agent) }
        }
    }

    /// Records that an agent has applied a commit that adds others.
    mutating func learned(_ agent: Int, of added: [Int]) { known[agent, default: []].formUnion(added) }

    /// Records that an agent has joined. If it was a member already, its invitation belonged to a commit that lost: it
    /// cannot read what the others sent before they invited it again. Returns the number of deliveries no longer expected.
    @discardableResult
    mutating func joined(_ agent: Int) -> Int {
        let excused = memberships[agent] == .member ? excuse(agent) : 0
        memberships[agent] = .member
        if places[agent] == nil { places[agent] = places.count }
        // A Welcome names the members of its time, and those added with it.
        let addition = additions[agent] ?? 0
        known[agent] = Set(additions.filter { $0.value <= addition }.keys)
        receivers.remove(agent)
        return excused
    }

    /// Stops expecting deliveries to the agent, and deliveries of its unsent messages, because it may be removed before
    /// it sends them. Returns the number of deliveries no longer expected.
    mutating func beginLeave(_ agent: Int) -> Int {
        memberships[agent] = .leaving
        let unsent = open.filter { $0.key.sender == agent && (settlesBranches || !$0.value.isSent) }.keys
        return unsent.reduce(0) { $0 + withdraw($1) } + excuse(agent)
    }

    /// Ends a membership: the agent knows that it was removed. In groups of v2 it cannot send again the messages of a
    /// branch that lost. Returns the number of deliveries no longer expected.
    mutating func left(_ agent: Int) -> Int {
        let excused = beginLeave(agent)
        memberships[agent] = nil
        return excused
    }

    /// Stops expecting deliveries to an agent; returns their number.
    private mutating func excuse(_ agent: Int) -> Int {
        guard let place = places[agent] else { return 0 }
        var excused = 0
        for stamp in Array(open.keys) where open[stamp]?.expected.remove(place) == true {
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
    mutating func send(from sender: Int, _ times: SendTimes) -> (stamp: MessageStamp, expected: Int)? {
        guard memberships[sender] == .member else { return nil }
        let stamp = MessageStamp(sender: sender, sequence: sent[sender] ?? 0)
        sent[sender] = stamp.sequence + 1
        var expected = MemberSet()
        for agent in known[sender] ?? [] where agent != sender && memberships[agent] == .member {
            if let place = places[agent] { expected.insert(place) }
        }
        outstanding += expected.count
        if !expected.isEmpty { open[stamp] = OpenMessage(times: times, expected: expected) }
        return (stamp, expected.count)
    }

    /// Returns whether deliveries of the message are outstanding.
    func isOutstanding(_ stamp: MessageStamp) -> Bool { open[stamp] != nil }

    /// Notes that a relay has accepted the message.
    mutating func markSent(_ stamp: MessageStamp) { open[stamp]?.isSent = true }

    /// Withdraws a message that was never sent; returns the number of deliveries no longer expected.
    mutating func withdraw(_ stamp: MessageStamp) -> Int {
        let expected = open.removeValue(forKey: stamp)?.expected.count ?? 0
        outstanding -= expected
        return expected
    }

    /// Withdraws a message that its sender cannot send, or cannot send again on the branch that won. If its own branch
    /// wins after all, it may arrive, but need not. Returns the number of deliveries no longer expected.
    mutating func giveUp(_ stamp: MessageStamp) -> Int {
        abandoned.insert(stamp)
        return withdraw(stamp)
    }

    mutating func received(_ stamp: MessageStamp, by receiver: Int) -> Arrival {
        let pair = SenderAndReceiver(sender: stamp.sender, receiver: receiver)
        let verdict = trackers[pair, default: SequenceTracker()].note(stamp.sequence)
        var expectedSince: SendTimes?
        markSent(stamp)
        if let place = places[receiver], open[stamp]?.expected.remove(place) == true {
            expectedSince = open[stamp]?.times
            outstanding -= 1
            closeIfDone(stamp)
        }
        return Arrival(
            verdict: verdict, expectedSince: expectedSince, isFirstForMember: receivers.insert(receiver).inserted)
    }

    /// Expects a withdrawn delivery again. Returns false if the message had not arrived, if its sender does not send it
    /// again, or if its receiver or its sender is no longer a member.
    mutating func withdrawn(_ stamp: MessageStamp, by receiver: Int, at time: Duration) -> Bool {
        let pair = SenderAndReceiver(sender: stamp.sender, receiver: receiver)
        guard trackers[pair]?.forget(stamp.sequence) == true, !abandoned.contains(stamp),
            memberships[receiver] == .member, memberships[stamp.sender] == .member, let place = places[receiver]
        else { return false }
        open[stamp, default: OpenMessage(times: SendTimes(sent: time), expected: MemberSet(), isSent: true)]
            .expected.insert(place)
        outstanding += 1
        return true
    }

    /// Notes that a withdrawn delivery counts again. Returns whether it was still expected, and now is not.
    mutating func restored(_ stamp: MessageStamp, by receiver: Int) -> Bool {
        received(stamp, by: receiver).expectedSince != nil
    }

    private mutating func closeIfDone(_ stamp: MessageStamp) {
        if open[stamp]?.expected.isEmpty == true { open[stamp] = nil }
    }
}

/// The send times of a message, since the start of the run.
struct SendTimes: Sendable, Hashable {
    let sent: Duration
    /// The time at which it was due by the plan; nil in the closed model.
    var intended: Duration?
}
