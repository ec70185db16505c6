import MLS
import Marmot
import Nostr

/// The state of calls shown to users, and the part of it that outlives the process.
extension CoreModel {
    private static let timeline = MemoName(.callTimeline, [])

    /// Updates the snapshot and the memo from the call machine.
    mutating func refreshCall(_ step: inout CoreStep) {
        let chatID = self.calls.latest.flatMap { self.chatID(of: $0.groupID) }
        guard let shown = self.calls.snapshot(chatID: chatID, after: self.state.activeCall) else { return }
        if self.state.activeCall != shown { self.state.activeCall = shown }
        self.calls.store(&step)
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
        guard let record = self.calls.endInterrupted(&step) else { return }
        self.append(
            AppState.CallTimelineEntry(
                callID: record.callID, chatID: self.chatID(of: record.groupID) ?? "",
                peer: record.peer, at: step.now, event: .ended(reason: "runtime_error", seconds: nil)), &step)
        // An older invitation without an answer has timed out on both sides.
        guard record.isAnswered || record.startedAt >= step.now - Self.maximumInviteAge else { return }
        self.sendCallSignal(.end(reason: "runtime_error"), record.callID, record.groupID, &step)
    }
}
