import MLS
import Nostr

/// The calls of an account: the call machine, the signals in the outbox, and the record of a live call that outlives
/// the process.
struct Calls: Sendable {
    private static let liveCall = MemoName(.liveCall, [])

    private var machine = CallMachine()
    /// Invites and accepts that no relay has accepted yet, by outbox row.
    private var signalRows: [String: String] = [:]
    /// The live call as stored, and a call that was live when an earlier process ended.
    private var stored: LiveCallRecord?
    private var interrupted: LiveCallRecord?
    private var limiter = RateLimiter<PublicKey>()

    var state: CallMachine.State { self.machine.state }
    var live: CallMachine.Call? { self.machine.live }
    /// The live call, or the one that ended last.
    var latest: CallMachine.Call? { self.machine.latest }
    var hasPendingSignals: Bool { !self.signalRows.isEmpty }

    /// Consumes one invite of a caller's allowance; false if there were too many.
    mutating func admitInvite(from caller: PublicKey, _ limit: RateLimit?, _ step: inout CoreStep) -> Bool {
        guard let limit, !self.limiter.consume(caller, limit, nowMilliseconds: step.nowMilliseconds) else {
            return true
        }
        step.effects.append(.note(.limited(scope: "calls")))
        return false
    }

    /// Passes an event to the call machine; returns the actions to perform.
    mutating func handle(
        _ event: CallMachine.Event, _ policy: CallPolicy, nowMilliseconds: Int64
    ) throws(AppCoreError) -> [CallMachine.Action] {
        try self.machine.handle(event, policy, nowMilliseconds: nowMilliseconds)
    }

    /// Whether an action still applies: an earlier one of the same turn may have failed and ended its call.
    func allows(_ action: CallMachine.Action) -> Bool {
        switch action {
        case .wake(let callID, _): self.live?.id == callID
        case .startMedia(let call), .setMedia(let call): self.live?.id == call.id
        case .record(.ended, _): true
        case .record(_, let call): self.live?.id == call.id
        case .send, .stopMedia, .announce: true
        }
    }

    // MARK: Signals

    /// Records the outbox row of an invite or accept, whose loss ends the call.
    mutating func track(_ body: CallSignal.Body, of callID: String, row: String) {
        switch body {
        case .invite, .accept: self.signalRows[row] = callID
        case .reject, .end: break
        }
    }

    /// Concludes the signal of an outbox row; returns its call if the call depends on it.
    mutating func conclude(row: String) -> String? { self.signalRows.removeValue(forKey: row) }

    // MARK: Snapshot

    /// The current call as shown to users; nil if there was none yet.
    ///
    /// - Parameters:
    ///   - chatID: the chat of ``latest``; nil if it is gone.
    ///   - shown: the call shown before.
    func snapshot(chatID: ChatID?, after shown: AppState.ActiveCall?) -> AppState.ActiveCall? {
        let (call, phase): (CallMachine.Call, AppState.ActiveCall.Phase)
        switch self.machine.state {
        case .idle: return nil
        case .offering(let live, _): (call, phase) = (live, .offering)
        case .ringing(let live, _): (call, phase) = (live, .ringing)
        case .connecting(let live): (call, phase) = (live, .connecting)
        case .active(let live): (call, phase) = (live, .active)
        case .ended(let over, let reason): (call, phase) = (over, .ended(reason: reason))
        }
        let before = shown.flatMap { $0.callID == call.id ? $0 : nil }
        return AppState.ActiveCall(
            callID: call.id, chatID: chatID ?? before?.chatID ?? "",
            peer: call.peer, isOutgoing: call.isOutgoing, phase: phase, isVideo: call.session.hasVideo,
            isMuted: call.isMuted, isCameraOn: call.isCameraOn, startedAt: UnixTime(milliseconds: call.startedAt),
            connectedAt: call.connectedAt.map(UnixTime.init(milliseconds:)), tracks: call.session.tracks,
            statistics: before?.statistics ?? CallStatistics())
    }

    // MARK: Restarts

    /// Stores the live call, if it changed.
    mutating func store(_ step: inout CoreStep) {
        let record = self.machine.live.map {
            LiveCallRecord(
                callID: $0.id, groupID: $0.groupID, peer: $0.peer, startedAt: UnixTime(milliseconds: $0.startedAt),
                isAnswered: self.machine.isAnswered)
        }
        guard record != self.stored else { return }
        self.stored = record
        step.changes.append(.putMemo(Self.liveCall, record?.memo))
    }

    /// Restores a call that was live when the process ended; false if the memo is unreadable.
    mutating func restore(_ memo: Secret) -> Bool {
        self.interrupted = LiveCallRecord(memo: memo)
        return self.interrupted != nil
    }

    /// Removes the call of the previous process, and returns it.
    mutating func endInterrupted(_ step: inout CoreStep) -> LiveCallRecord? {
        guard let record = self.interrupted else { return nil }
        self.interrupted = nil
        self.stored = nil
        step.changes.append(.putMemo(Self.liveCall, nil))
        return record
    }
}

extension CallMachine {
    /// Whether both sides have agreed to the live call.
    var isAnswered: Bool {
        switch self.state {
        case .connecting, .active: true
        case .idle, .offering, .ringing, .ended: false
        }
    }
}
