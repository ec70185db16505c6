import Foundation
import Nostr
import PikaCore

/// Commands about calls.
extension DaemonEngine {
    func call(_ command: DaemonCommand, key: String?) async throws(DaemonFailure) -> Done {
        switch command {
        case .inviteCall(let invitation): return try await self.invite(invitation, key: key)
        case .acceptCall(let id): return try await self.accept(id, key: key)
        case .rejectCall(let id, let reason):
            guard let call = self.state.activeCall, call.callID == id, call.phase == .ringing else {
                throw DaemonFailure(.notFound, "pending call invite not found")
            }
            try await self.act(.rejectCall(chatID: call.chatID, callID: id, reason: reason), key: key)
            return Done(result: ["call_id": .string(id)])
        case .endCall(let id, let reason): return try await self.end(id, reason, key: key)
        case .sendAudioResponse(let id, let text):
            _ = try self.soundCall(id)
            guard !text.trimmed.isEmpty else { throw DaemonFailure(.badRequest, "tts_text must not be empty") }
            throw DaemonFailure(
                .runtimeError, "tts publish failed: there is no text-to-speech here; send_audio_file works")
        case .sendAudioFile(let id, let path, let rate, let channels):
            return try self.sendAudio(id, path, rate: rate, channels: channels)
        case .sendCallData(let id, let hex, let track): return try self.sendData(id, hex, track)
        default: return Done()
        }
    }

    private func invite(_ invitation: DaemonCommand.CallInvitation, key: String?) async throws(DaemonFailure) -> Done {
        if self.state.activeCall?.isLive == true { throw DaemonFailure(.busy, "call already active") }
        let peer = try self.publicKey(invitation.peer)
        let group: DaemonGroup
        do throws(DaemonFailure) { group = try self.group(invitation.group) } catch {
            throw DaemonFailure(.runtimeError, error.message)
        }
        let url = invitation.moqURL.trimmed
        guard !url.isEmpty else { throw DaemonFailure(.runtimeError, "moq_url must not be empty") }
        let callID = invitation.callID.flatMap(\.nonBlank) ?? UUID().uuidString.lowercased()
        let track = CallSession.Track(
            name: invitation.trackName.flatMap(\.nonBlank) ?? "pty0",
            codec: invitation.trackCodec.flatMap(\.nonBlank) ?? "bytes", sampleRate: 1, channels: 1,
            frameMilliseconds: 1)
        let base = invitation.broadcastBase.flatMap(\.nonBlank)?.trimmingCharacters(in: ["/"])
        let session = CallSession(
            moqURL: url, broadcastBase: base ?? "pika/pty/\(callID)",
            relayAuth: invitation.relayAuth.flatMap(\.nonBlank) ?? "", tracks: [track])
        try await self.act(
            .startCall(chatID: group.chatID, session: session, callID: callID, peer: peer), key: key)
        let agreed = await self.core.callSession(callID: callID) ?? session
        return Done(result: [
            "call_id": .string(callID), "nostr_group_id": .string(group.nostrGroupID), "session": agreed.fields,
        ])
    }

    private func accept(_ id: String, key: String?) async throws(DaemonFailure) -> Done {
        guard let call = self.state.activeCall, call.isLive else {
            throw DaemonFailure(.notFound, "pending call invite not found")
        }
        if call.hasStarted { throw DaemonFailure(.busy, "call already active") }
        guard call.callID == id, call.phase == .ringing else {
            throw DaemonFailure(.notFound, "pending call invite not found")
        }
        self.calls.handled = id
        defer { self.calls.handled = nil }
        try await self.act(.acceptCall(chatID: call.chatID, callID: id), key: key)
        self.calls.begin(id)
        self.calls.stage = .started
        let nostrGroupID = self.state.nostrGroupID(ofChat: call.chatID)
        return Done(
            result: ["call_id": .string(id), "nostr_group_id": .string(nostrGroupID)],
            after: [.callSessionStarted(callID: id, nostrGroupID: nostrGroupID, from: call.peer)])
    }

    private func end(_ id: String, _ reason: String, key: String?) async throws(DaemonFailure) -> Done {
        let call = try self.liveCall(id)
        let hadStarted = call.hasStarted
        self.calls.handled = id
        defer { self.calls.handled = nil }
        try await self.act(.endCall(chatID: call.chatID, callID: id, reason: reason), key: key)
        self.calls.begin(id)
        self.calls.stage = .ended
        return Done(
            result: ["call_id": .string(id)],
            after: hadStarted ? [.callSessionEnded(callID: id, reason: reason)] : [])
    }

    private func act(_ action: AppAction, key: String?) async throws(DaemonFailure) {
        switch await self.outcome(of: action, key: key) {
        case .done, .partlyDone, .found, .queued: return
        case nil: throw DaemonFailure(.runtimeError, "the core does not answer")
        case .failed(let error):
            let code: DaemonFailure.Code =
                switch error.code {
                case .busy: .busy
                case .unknownCall: .notFound
                case .notAllowed: if case .acceptCall = action { .authFailed } else { .runtimeError }
                default: .runtimeError
                }
            throw DaemonFailure(code, error.message)
        }
    }

    func liveCall(_ id: String) throws(DaemonFailure) -> AppState.ActiveCall {
        guard let call = self.state.activeCall, call.isLive else {
            throw DaemonFailure(.notFound, "active call not found")
        }
        guard call.callID == id else { throw DaemonFailure(.notFound, "active call id mismatch") }
        return call
    }

    // MARK: Events

    /// Returns no events: clients learn of signals from the state changes that they cause.
    func events(of call: CallEvent, in chatID: String) -> [DaemonEvent] { [] }

    func tellCallNews() async {
        guard let call = self.state.activeCall else { return }
        self.calls.begin(call.callID)
        switch call.phase {
        case .offering: break
        case .ringing:
            guard !call.isOutgoing, self.calls.stage == .none else { break }
            self.calls.stage = .invited
            guard self.settings.admits(call.peer) else {
                // An unanswered call would block other callers for as long as it rings.
                return self.core.dispatch(.rejectCall(chatID: call.chatID, callID: call.callID, reason: "declined"))
            }
            let nostrGroupID = self.state.nostrGroupID(ofChat: call.chatID)
            await self.tell([
                .callInviteReceived(callID: call.callID, from: call.peer, nostrGroupID: nostrGroupID)
            ])
        case .connecting, .active:
            if self.calls.stage.rawValue < DaemonCalls.Stage.started.rawValue, self.calls.handled != call.callID {
                self.calls.stage = .started
                let nostrGroupID = self.state.nostrGroupID(ofChat: call.chatID)
                await self.tell([
                    .callSessionStarted(callID: call.callID, nostrGroupID: nostrGroupID, from: call.peer)
                ])
            }
            await self.tellMedia(of: call)
        case .ended(let reason):
            let isNews = self.calls.stage == .started && self.calls.handled != call.callID
            if self.calls.handled != call.callID { self.calls.stage = .ended }
            if isNews { await self.tell([.callSessionEnded(callID: call.callID, reason: reason)]) }
        }
    }

    private func tellMedia(of call: AppState.ActiveCall) async {
        if !self.calls.followsMedia, let media = self.core.callMedia(callID: call.callID) {
            self.calls.followsMedia = true
            self.background.yield { await self.follow(media) }
        }
        guard call.statistics != self.calls.statistics else { return }
        self.calls.statistics = call.statistics
        await self.tellPassing(
            .callDebug(
                callID: call.callID, sent: UInt64(clamping: call.statistics.sent),
                received: UInt64(clamping: call.statistics.received),
                dropped: UInt64(clamping: call.statistics.dropped)))
    }
}
