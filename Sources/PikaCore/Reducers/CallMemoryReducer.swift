import MLS
import Marmot
import Nostr

/// The state of calls shown to users, and the part of it that outlives the process.
extension CoreModel {
    private static let liveCall = MemoName(.liveCall, [])
    private static let timeline = MemoName(.callTimeline, [])

    /// Updates the snapshot and the memo from the call machine.
    mutating func refreshCall(_ step: inout CoreStep) {
        guard let shown = self.shownCall else { return }
        if self.state.activeCall != shown { self.state.activeCall = shown }
        let record = self.call.live.map {
            LiveCallRecord(
                callID: $0.id, groupID: $0.groupID, peer: $0.peer, startedAt: $0.startedAt / 1000,
                isAnswered: self.call.isAnswered)
        }
        guard record != self.storedCall else { return }
        self.storedCall = record
        step.changes.append(.putMemo(Self.liveCall, record?.memo))
    }

    private var shownCall: AppState.ActiveCall? {
        let (call, phase): (CallMachine.Call, AppState.ActiveCall.Phase)
        switch self.call.state {
        case .idle: return nil
        case .offering(let live, _): (call, phase) = (live, .offering)
        case .ringing(let live, _): (call, phase) = (live, .ringing)
        case .connecting(let live): (call, phase) = (live, .connecting)
        case .active(let live): (call, phase) = (live, .active)
        case .ended(let over, let reason): (call, phase) = (over, .ended(reason: reason))
        }
        let before = self.state.activeCall.flatMap { $0.callID == call.id ? $0 : nil }
        return AppState.ActiveCall(
            callID: call.id, chatID: self.chatID(of: call.groupID) ?? before?.chatID ?? "",
            peer: call.peer, isOutgoing: call.isOutgoing, phase: phase, isVideo: call.session.hasVideo,
            isMuted: call.isMuted, isCameraOn: call.isCameraOn, startedAt: call.startedAt / 1000,
            connectedAt: call.connectedAt.map { $0 / 1000 }, tracks: call.session.tracks,
            statistics: before?.statistics ?? CallStatistics())
    }

    mutating func recordCall(
        _ event: AppState.CallTimelineEntry.Event, _ call: CallMachine.Call, _ step: inout CoreStep
    ) {
        self.append(
            AppState.CallTimelineEntry(
                callID: call.id, chatID: self.chatID(of: call.groupID) ?? "", peer: call.peer,
                at: step.now, event: event), &step)
    }

    private mutating func append(_ entry: AppState.CallTimelineEntry, _ step: inout CoreStep) {
        let entries = Array((self.state.callTimeline + [entry]).suffix(CallTimeline.capacity))
        self.state.callTimeline = entries
        step.changes.append(.putMemo(Self.timeline, CallTimeline.memo(entries)))
    }

    /// Ends a call of the previous process at the start, and tells the other side if it may still be waiting.
    mutating func endInterruptedCall(_ step: inout CoreStep) {
        guard let record = self.interruptedCall else { return }
        self.interruptedCall = nil
        self.storedCall = nil
        step.changes.append(.putMemo(Self.liveCall, nil))
        self.append(
            AppState.CallTimelineEntry(
                callID: record.callID, chatID: self.chatID(of: record.groupID) ?? "",
                peer: record.peer, at: step.now, event: .ended(reason: "runtime_error", seconds: nil)), &step)
        // An invitation of that age has timed out on both sides.
        guard record.isAnswered || record.startedAt >= step.now - Self.maximumInviteAge else { return }
        self.sendCallSignal(.end(reason: "runtime_error"), record.callID, record.groupID, &step)
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
