import Nostr
import PikaCore

/// Calls that the daemon knows of.
struct DaemonCalls: Sendable {
    struct Invitation: Sendable {
        let chatID: String
        let peer: PublicKey
    }

    /// Those that wait for an answer, by call.
    var invited: [String: Invitation] = [:]
}

extension DaemonEngine {
    func call(_ command: DaemonCommand, key: String?) async throws(DaemonFailure) -> Done {
        throw DaemonFailure(.runtimeError, "calls are not there yet")
    }

    func events(of call: CallEvent, in chatID: String) -> [DaemonEvent] {
        guard self.settings.admits(call.sender) else { return [] }
        switch call.signal.body {
        case .invite:
            self.calls.invited[call.signal.callID] = DaemonCalls.Invitation(chatID: chatID, peer: call.sender)
            return [.callInviteReceived(callID: call.signal.callID, from: call.sender, chatID: chatID)]
        case .reject, .end:
            self.calls.invited[call.signal.callID] = nil
            return []
        case .accept: return []
        }
    }

    func tellCallNews() async {}
}
