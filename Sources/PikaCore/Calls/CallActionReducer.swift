import Marmot
import Nostr

/// User actions on calls.
extension CoreModel {
    /// Performs an action on a call. If the outcome is reported, it is that of the signal that the action sends.
    mutating func actOnCall(
        _ action: AppAction, _ request: RequestID?, _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        let id = self.actionID(of: request)
        switch action {
        case .startCall(let chatID, let session, let callID, let peer):
            try self.startCall(chatID, session, callID, peer, id, &step)
        case .startVideoCall(let chatID, var session, let callID, let peer):
            if session.tracks.isEmpty { session.tracks = [.audio] }
            if !session.hasVideo { session.tracks.append(.video) }
            try self.startCall(chatID, session, callID, peer, id, &step)
        case .acceptCall(let chatID, let callID):
            let call = try self.call(callID, inChat: chatID)
            try self.driveCall(.userAccepts(callID: callID, isAuthentic: self.isAuthentic(call)), by: id, &step)
            if case .ended(_, "auth_failed") = self.calls.state {
                throw AppCoreError(.notAllowed, "the group has changed since the invitation: call again")
            }
        case .rejectCall(let chatID, let callID, let reason):
            _ = try self.call(callID, inChat: chatID)
            try self.driveCall(.userDeclines(callID: callID, reason: CallSignal.capped(reason)), by: id, &step)
        case .endCall(let chatID, let callID, let reason):
            _ = try self.call(callID, inChat: chatID)
            try self.driveCall(.userEnds(callID: callID, reason: CallSignal.capped(reason)), by: id, &step)
        case .toggleMute: try self.driveCall(.toggleMute, &step)
        case .toggleCamera: try self.driveCall(.toggleCamera, &step)
        default: throw AppCoreError(.notAllowed, "the action is not about a call")
        }
        return .done(chatID: nil)
    }

    /// Returns the live call if the ids match it.
    private func call(_ callID: String, inChat chatID: ChatID) throws(AppCoreError) -> CallMachine.Call {
        let groupID = try self.groupID(ofChat: chatID)
        guard let call = self.calls.live, call.id == callID, call.groupID == groupID else {
            throw AppCoreError.unknownCall
        }
        return call
    }

    private mutating func startCall(
        _ chatID: ChatID, _ session: CallSession, _ callID: String?, _ peer: PublicKey?, _ action: ActionID?,
        _ step: inout CoreStep
    ) throws {
        guard let group = self.groups[try self.groupID(ofChat: chatID)], group.isActive else {
            throw AppCoreError(.unknownChat, "no chat has the id \(chatID)")
        }
        guard self.calls.live == nil else { throw AppCoreError(.busy, "one call at a time: end the other one first") }
        try self.requireMembership(in: group.groupID)
        let peer = try self.calledPeer(peer, in: group)
        let id = callID ?? self.makeUUID(&step)
        guard (1...CallSignal.maximumCallIDBytes).contains(id.utf8.count), !self.isUsed(id) else {
            throw AppCoreError(
                .notAllowed, "a call id must be new and have 1 to \(CallSignal.maximumCallIDBytes) bytes")
        }
        var session = try self.completed(session, id, usesBaseUnchanged: callID != nil)
        if session.relayAuth.isEmpty {
            session.relayAuth = CallAuthorization.token(
                session, callID: id, between: self.account.publicKey, and: peer, in: group)
        }
        let call = CallMachine.Call(
            id: id, groupID: group.groupID, peer: peer, session: session, isOutgoing: true,
            startedAt: step.nowMilliseconds, isCameraOn: session.hasVideo)
        try self.driveCall(.start(call), by: action, &step)
        if case .ended(let ended, let reason) = self.calls.state, ended.id == id {
            throw AppCoreError(.notAllowed, "the call could not be made: \(reason)")
        }
    }

    private func calledPeer(_ peer: PublicKey?, in group: AccountGroup) throws(AppCoreError) -> PublicKey {
        let others = group.members.filter { $0 != self.account.publicKey }
        if let peer {
            guard others.contains(peer) else { throw AppCoreError(.notAllowed, "only a member can be called") }
            return peer
        }
        guard let only = others.first, others.count == 1 else {
            throw AppCoreError(.notAllowed, "the chat has \(others.count) other members: name the one to call")
        }
        return only
    }

    /// Fills the unset fields of a session from the policy.
    private func completed(
        _ session: CallSession, _ callID: String, usesBaseUnchanged: Bool
    ) throws(AppCoreError) -> CallSession {
        var session = session
        let policy = self.configuration.calls
        if session.moqURL.isEmpty {
            guard let url = policy.moqURL else {
                throw AppCoreError(.badAddress, "no media relay is configured: name one in the session or the policy")
            }
            session.moqURL = url
        }
        if session.tracks.isEmpty { session.tracks = [.audio] }
        guard session.tracks.count <= CallSession.maximumTracks else {
            throw AppCoreError(.notAllowed, "a call has at most \(CallSession.maximumTracks) tracks")
        }
        if session.broadcastBase.isEmpty {
            session.broadcastBase = "\(policy.broadcastPrefix)/\(callID)"
        } else if !usesBaseUnchanged {
            session.broadcastBase += "/\(callID)"
        }
        return session
    }

    /// A version 4 UUID (RFC 9562 §5.4).
    private func makeUUID(_ step: inout CoreStep) -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &step.random) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        let digits = Array(Hex.encode(bytes))
        let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return parts.joined(separator: "-")
    }
}
