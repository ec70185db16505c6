import Foundation
import Nostr
import PikaCore

/// Commands about calls.
extension DaemonEngine {
    func perform(call command: DaemonCommand, key: String?) async throws(DaemonFailure) -> CommandResult {
        switch command {
        case .inviteCall(let invitation): return try await self.invite(invitation, key: key)
        case .acceptCall(let id): return try await self.accept(id, key: key)
        case .rejectCall(let id, let reason):
            let call = try self.machine.ringingCall(id)
            try await self.perform(.rejectCall(chatID: call.chatID, callID: id, reason: reason), key: key)
            return CommandResult(result: ["call_id": .string(id)])
        case .endCall(let id, let reason): return try await self.end(id, reason, key: key)
        case .sendAudioResponse(let id, let text):
            _ = try self.machine.audioCall(id)
            guard !text.trimmed.isEmpty else { throw DaemonFailure(.badRequest, "tts_text must not be empty") }
            throw DaemonFailure(
                .runtimeError, "tts publish failed: text-to-speech is not supported; use send_audio_file")
        case .sendAudioFile(let id, let path, let rate, let channels):
            return try self.sendAudio(id, path, rate: rate, channels: channels)
        case .sendCallData(let id, let hex, let track): return try self.sendData(id, hex, track)
        default: return CommandResult()
        }
    }

    private func invite(
        _ invitation: DaemonCommand.CallInvitation, key: String?
    ) async throws(DaemonFailure) -> CommandResult {
        if self.machine.state.activeCall?.isLive == true { throw DaemonFailure(.busy, "call already active") }
        let peer = try CommandArguments.publicKey(invitation.peer)
        let group: DaemonGroup
        do throws(DaemonFailure) { group = try self.machine.group(invitation.group) } catch {
            throw DaemonFailure(.runtimeError, error.message)
        }
        let callID = invitation.callID.flatMap(\.nonBlank) ?? UUID().uuidString.lowercased()
        let session = try CommandArguments.session(invitation, callID: callID)
        try await self.perform(
            .startCall(chatID: group.chatID, session: session, callID: callID, peer: peer), key: key)
        let agreed = await self.core.callSession(callID: callID) ?? session
        return CommandResult(result: [
            "call_id": .string(callID), "nostr_group_id": .string(group.nostrGroupID), "session": agreed.fields,
        ])
    }

    private func accept(_ id: String, key: String?) async throws(DaemonFailure) -> CommandResult {
        if let call = self.machine.state.activeCall, call.isLive, call.hasStarted {
            throw DaemonFailure(.busy, "call already active")
        }
        let call = try self.machine.ringingCall(id)
        self.machine.calls.beginCommand(on: id)
        defer { self.machine.calls.endCommand() }
        try await self.perform(.acceptCall(chatID: call.chatID, callID: id), key: key)
        self.machine.calls.start(id)
        let nostrGroupID = self.machine.nostrGroupID(of: call.chatID)
        return CommandResult(
            result: ["call_id": .string(id), "nostr_group_id": .string(nostrGroupID)],
            after: [.callSessionStarted(callID: id, nostrGroupID: nostrGroupID, from: call.peer)])
    }

    private func end(_ id: String, _ reason: String, key: String?) async throws(DaemonFailure) -> CommandResult {
        let call = try self.machine.liveCall(id)
        self.machine.calls.beginCommand(on: id)
        defer { self.machine.calls.endCommand() }
        try await self.perform(.endCall(chatID: call.chatID, callID: id, reason: reason), key: key)
        self.machine.calls.end(id)
        return CommandResult(
            result: ["call_id": .string(id)],
            after: call.hasStarted ? [.callSessionEnded(callID: id, reason: reason)] : [])
    }

    private func perform(_ action: AppAction, key: String?) async throws(DaemonFailure) {
        switch await self.outcome(of: action, key: key) {
        case .done, .partlyDone, .found, .queued: return
        case nil: throw DaemonFailure.coreTimeout
        case .failed(let error): throw DaemonFailure.call(error, action)
        }
    }

    // MARK: Events

    func announceCallChanges() async {
        guard let call = self.machine.state.activeCall else { return }
        for effect in self.machine.receive(call) { await self.perform(effect, call) }
    }

    private func perform(_ effect: CallProgress.Effect, _ call: AppState.ActiveCall) async {
        let nostrGroupID = self.machine.nostrGroupID(of: call.chatID)
        switch effect {
        case .decline:
            self.core.dispatch(.rejectCall(chatID: call.chatID, callID: call.callID, reason: "declined"))
        case .announceInvite:
            await self.announce([
                .callInviteReceived(callID: call.callID, from: call.peer, nostrGroupID: nostrGroupID)
            ])
        case .announceStart:
            await self.announce([
                .callSessionStarted(callID: call.callID, nostrGroupID: nostrGroupID, from: call.peer)
            ])
        case .announceEnd(let reason):
            await self.announce([.callSessionEnded(callID: call.callID, reason: reason)])
        case .followMedia:
            guard let media = self.core.callMedia(callID: call.callID),
                self.machine.calls.beginMedia(of: call.callID)
            else { return }
            self.streams.background.yield { await self.receiveMedia(media) }
        case .announceStatistics(let statistics):
            await self.announceTransient(
                .callDebug(
                    callID: call.callID, sent: UInt64(clamping: statistics.sent),
                    received: UInt64(clamping: statistics.received), dropped: UInt64(clamping: statistics.dropped)))
        }
    }
}
