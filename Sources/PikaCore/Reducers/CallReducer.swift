import Marmot
import Nostr

/// Call signals, as far as inviting and refusing goes (wire §8.1).
extension CoreModel {
    /// Invites older than this many seconds are ignored.
    static let maximumInviteAge: Int64 = 30

    mutating func takeCallSignal(_ message: ReceivedMessage, of groupID: [UInt8], _ step: inout CoreStep) {
        guard message.rumor.pubkey != self.account.publicKey,
            let signal = CallSignal(content: message.rumor.content), let group = self.groups[groupID]
        else { return }
        let chatID = group.data.nostrGroupIDHex
        switch signal.body {
        case .invite:
            guard step.now - message.rumor.createdAt <= Self.maximumInviteAge else {
                step.effects.append(.note(.refused(reason: "stale_call", detail: "an invite older than 30 s")))
                return
            }
            if self.state.activeCall == nil || self.state.activeCall?.isOver == true {
                self.state.activeCall = .init(
                    callID: signal.callID, chatID: chatID, peer: message.rumor.pubkey, phase: .ringing)
            }
        case .accept: break
        case .reject(let reason), .end(let reason):
            if self.state.activeCall?.callID == signal.callID, self.state.activeCall?.chatID == chatID {
                self.state.activeCall?.phase = .ended(reason: reason)
            }
        }
        self.deliver(
            .call(CallEvent(id: message.id, sender: message.rumor.pubkey, signal: signal, epoch: message.epoch)),
            of: groupID, &step)
    }

    mutating func startCall(_ chatID: String, _ session: CallSession, _ step: inout CoreStep) throws {
        guard let group = self.groups[try self.groupID(ofChat: chatID)],
            let peer = group.members.first(where: { $0 != self.account.publicKey })
        else { throw AppCoreError(.unknownChat, "no chat has the id \(chatID)") }
        let callID = self.makeUUID(&step)
        var session = session
        session.broadcastBase += "/\(callID)"
        session.relayAuth = CallAuthorization.token(
            session, callID: callID, between: self.account.publicKey, and: peer, in: group)
        try self.sendCallSignal(.invite(session), callID: callID, toChat: chatID, &step)
        self.state.activeCall = .init(callID: callID, chatID: chatID, peer: peer, phase: .offering)
    }

    mutating func sendCallSignal(
        _ body: CallSignal.Body, callID: String, toChat chatID: String, _ step: inout CoreStep
    ) throws {
        let signal = CallSignal(callID: callID, timestampMilliseconds: step.nowMilliseconds, body: body)
        _ = try self.send(OutgoingMessage(kind: .callSignal, content: signal.content), toChat: chatID, &step)
        if self.state.activeCall?.callID == callID {
            switch body {
            case .reject(let reason), .end(let reason): self.state.activeCall?.phase = .ended(reason: reason)
            case .invite, .accept: break
            }
        }
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

extension AppState.ActiveCall {
    var isOver: Bool { if case .ended = self.phase { true } else { false } }
}
