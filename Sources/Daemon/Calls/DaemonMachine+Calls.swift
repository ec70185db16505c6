import Nostr
import PikaCore

/// Commands about calls, and the reactions to a changed call.
extension DaemonMachine {
    mutating func begin(
        call command: DaemonCommand, _ context: CommandContext
    ) throws(DaemonFailure) -> CommandStep {
        let key = context.key
        switch command {
        case .inviteCall(let invitation): return try self.invite(invitation, context)
        case .acceptCall(let id): return try self.accept(id, key: key)
        case .rejectCall(let id, let reason):
            let call = try self.ringingCall(id)
            let action = AppAction.rejectCall(chatID: call.chatID, callID: id, reason: reason)
            return .request(action, key: key, within: nil) {
                (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
                try Self.check(outcome, of: action)
                return .reply(CommandResult(result: ["call_id": .string(id)]))
            }
        case .endCall(let id, let reason): return try self.end(id, reason, key: key)
        case .sendAudioResponse(let id, let text):
            _ = try self.audioCall(id)
            guard !text.trimmed.isEmpty else { throw DaemonFailure(.badRequest, "tts_text must not be empty") }
            throw DaemonFailure(
                .runtimeError, "tts publish failed: text-to-speech is not supported; use send_audio_file")
        case .sendAudioFile(let id, let path, let rate, let channels):
            return try self.sendAudio(id, path, rate: rate, channels: channels)
        case .sendCallData(let id, let hex, let track): return try self.sendData(id, hex, track)
        default: return .reply(CommandResult())
        }
    }

    // MARK: Signals

    private func invite(
        _ invitation: DaemonCommand.CallInvitation, _ context: CommandContext
    ) throws(DaemonFailure) -> CommandStep {
        if self.state.activeCall?.isLive == true { throw DaemonFailure(.busy, "call already active") }
        let peer = try CommandArguments.publicKey(invitation.peer)
        let group: DaemonGroup
        do throws(DaemonFailure) { group = try self.group(invitation.group) } catch {
            throw DaemonFailure(.runtimeError, error.message)
        }
        let callID = invitation.callID.flatMap(\.nonBlank) ?? context.newID()
        let session = try CommandArguments.session(invitation, callID: callID)
        let action = AppAction.startCall(chatID: group.chatID, session: session, callID: callID, peer: peer)
        return .request(action, key: context.key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            try Self.check(outcome, of: action)
            return .readCallSession(callID: callID) {
                (machine: inout DaemonMachine, agreed: CallSession?) throws(DaemonFailure) -> CommandStep in
                .reply(
                    CommandResult(result: [
                        "call_id": .string(callID), "nostr_group_id": .string(group.nostrGroupID),
                        "session": (agreed ?? session).fields,
                    ]))
            }
        }
    }

    private mutating func accept(_ id: String, key: String?) throws(DaemonFailure) -> CommandStep {
        if let call = self.state.activeCall, call.isLive, call.hasStarted {
            throw DaemonFailure(.busy, "call already active")
        }
        let call = try self.ringingCall(id)
        let action = AppAction.acceptCall(chatID: call.chatID, callID: id)
        self.calls.beginCommand(on: id)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            defer { machine.calls.endCommand() }
            try Self.check(outcome, of: action)
            machine.calls.start(id)
            let nostrGroupID = machine.nostrGroupID(of: call.chatID)
            return .reply(
                CommandResult(
                    result: ["call_id": .string(id), "nostr_group_id": .string(nostrGroupID)],
                    after: [.callSessionStarted(callID: id, nostrGroupID: nostrGroupID, from: call.peer)]))
        }
    }

    private mutating func end(_ id: String, _ reason: String, key: String?) throws(DaemonFailure) -> CommandStep {
        let call = try self.liveCall(id)
        let action = AppAction.endCall(chatID: call.chatID, callID: id, reason: reason)
        self.calls.beginCommand(on: id)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            defer { machine.calls.endCommand() }
            try Self.check(outcome, of: action)
            machine.calls.end(id)
            return .reply(
                CommandResult(
                    result: ["call_id": .string(id)],
                    after: call.hasStarted ? [.callSessionEnded(callID: id, reason: reason)] : []))
        }
    }

    /// Throws unless the core has performed the action.
    private static func check(_ outcome: ActionOutcome?, of action: AppAction) throws(DaemonFailure) {
        switch outcome {
        case .done, .partlyDone, .found, .queued: return
        case nil: throw DaemonFailure.coreTimeout
        case .failed(let error): throw DaemonFailure.call(error, action)
        }
    }

    // MARK: Audio and data

    /// Sends an audio file. The reply follows once all of it has been sent; other commands run meanwhile.
    private func sendAudio(
        _ id: String, _ path: String, rate: UInt32, channels: UInt16
    ) throws(DaemonFailure) -> CommandStep {
        let (_, track) = try self.audioCall(id)
        let (source, target) = try CommandArguments.audioFormats(rate: rate, channels: channels, track)
        return .readFile(path: path) {
            (machine: inout DaemonMachine, found: Result<[UInt8], RegularFile.Failure>) throws(DaemonFailure)
                -> CommandStep in
            let bytes: [UInt8]
            switch found {
            case .success(let content): bytes = content
            case .failure(let failure):
                throw DaemonFailure(.ioError, "failed to read audio file \(path): \(failure)")
            }
            return .openMedia(callID: id) {
                (machine: inout DaemonMachine, media: CallMedia?) throws(DaemonFailure) -> CommandStep in
                let transfer = CallAudioTransfer(
                    callID: id, bytes: bytes, source: source, target: target, track: track.name,
                    media: try Self.opened(media))
                var result = CommandResult(repliesToStandard: true)
                result.later = { await transfer.run() }
                return .reply(result)
            }
        }
    }

    private func sendData(_ id: String, _ hex: String, _ track: String?) throws(DaemonFailure) -> CommandStep {
        let call = try self.liveCall(id)
        guard call.audioTrack == nil else { throw DaemonFailure(.badRequest, "active call is not a data call") }
        guard let bytes = Hex.decode(hex.trimmed.lowercased()) else {
            throw DaemonFailure(.badRequest, "payload_hex must be valid hex")
        }
        let name = track?.trimmed ?? ""
        return .openMedia(callID: id) {
            (machine: inout DaemonMachine, media: CallMedia?) throws(DaemonFailure) -> CommandStep in
            .sendData(try Self.opened(media), bytes, track: name.isEmpty ? nil : name) {
                (machine: inout DaemonMachine, failure: AppCoreError?) throws(DaemonFailure) -> CommandStep in
                if let failure {
                    throw DaemonFailure(.runtimeError, "publish call data failed: \(failure.message)")
                }
                return .reply(CommandResult())
            }
        }
    }

    private static func opened(_ media: CallMedia?) throws(DaemonFailure) -> CallMedia {
        guard let media else { throw DaemonFailure(.runtimeError, "the call's media connection is not open") }
        return media
    }

    // MARK: Changes of the call

    /// A reaction to a changed call.
    enum CallReaction: Sendable {
        case dispatch(AppAction)
        case announce(DaemonEvent)
        /// Sends an event that has no cursor and is never replayed.
        case announceTransient(DaemonEvent)
        /// Begins to receive the call's media, if there are any.
        case followMedia(callID: String)
    }

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
