import Nostr
import PikaCore

/// A reaction to a changed call.
enum CallReaction: Sendable {
    case dispatch(AppAction)
    case announce(DaemonEvent)
    /// Sends an event that has no cursor and is never replayed.
    case announceTransient(DaemonEvent)
    /// Begins to receive the call's media, if there are any.
    case followMedia(callID: String)
}

extension DaemonMachine {
    /// Returns the reactions to the current call, in order.
    mutating func receiveCall() -> [CallReaction] {
        guard let call = self.state.activeCall else { return [] }
        let effects = self.calls.receive(call, isAllowed: self.settings.admits(call.peer))
        return effects.map { self.reaction(to: $0, call) }
    }

    private func reaction(to effect: CallProgress.Effect, _ call: AppState.ActiveCall) -> CallReaction {
        let nostrGroupID = self.nostrGroupID(of: call.chatID)
        switch effect {
        case .decline:
            return .dispatch(.rejectCall(chatID: call.chatID, callID: call.callID, reason: "declined"))
        case .announceInvite:
            return .announce(
                .callInviteReceived(callID: call.callID, from: call.peer, nostrGroupID: nostrGroupID))
        case .announceStart:
            return .announce(
                .callSessionStarted(callID: call.callID, nostrGroupID: nostrGroupID, from: call.peer))
        case .announceEnd(let reason):
            return .announce(.callSessionEnded(callID: call.callID, reason: reason))
        case .followMedia: return .followMedia(callID: call.callID)
        case .announceStatistics(let statistics):
            return .announceTransient(
                .callDebug(
                    callID: call.callID, sent: UInt64(clamping: statistics.sent),
                    received: UInt64(clamping: statistics.received), dropped: UInt64(clamping: statistics.dropped)))
        }
    }
}
