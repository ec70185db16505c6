import CallMedia
import Nostr
import PikaCore

/// Commands about calls.
enum CallCommands {
    /// Returns the first step of a command.
    static func begin(
        _ command: DaemonCommand, _ context: CommandContext, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        let key = context.key
        switch command {
        case .inviteCall(let invitation): return try self.invite(invitation, context, machine)
        case .acceptCall(let id): return try self.accept(id, key: key, &machine)
        case .rejectCall(let id, let reason):
            let call = try machine.ringingCall(id)
            let action = AppAction.rejectCall(chatID: call.chatID, callID: id, reason: reason)
            return .request(action, key: key, within: nil) {
                (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
                try self.check(outcome, of: action)
                return .reply(CommandResult(result: ["call_id": .string(id)]))
            }
        case .endCall(let id, let reason): return try self.end(id, reason, key: key, &machine)
        case .sendAudioResponse(let id, let text):
            _ = try machine.audioCall(id)
            guard !text.trimmed.isEmpty else { throw DaemonFailure(.badRequest, "tts_text must not be empty") }
            throw DaemonFailure(
                .runtimeError, "tts publish failed: text-to-speech is not supported; use send_audio_file")
        case .sendAudioFile(let id, let path, let rate, let channels):
            return try self.sendAudio(id, path, rate: rate, channels: channels, machine)
        case .sendCallData(let id, let hex, let track): return try self.sendData(id, hex, track, machine)
        default: return .reply(CommandResult())
        }
    }

    // MARK: Signals

    private static func invite(
        _ invitation: DaemonCommand.CallInvitation, _ context: CommandContext, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        if machine.state.activeCall?.isLive == true { throw DaemonFailure(.busy, "call already active") }
        let peer = try CommandArguments.publicKey(invitation.peer)
        let group: DaemonGroup
        do throws(DaemonFailure) { group = try machine.group(invitation.group) } catch {
            throw DaemonFailure(.runtimeError, error.message)
        }
        let callID = invitation.callID.flatMap(\.nonBlank) ?? context.newID()
        let session = try CommandArguments.session(invitation, callID: callID)
        let action = AppAction.startCall(chatID: group.chatID, session: session, callID: callID, peer: peer)
        return .request(action, key: context.key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            try self.check(outcome, of: action)
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

    private static func accept(
        _ id: String, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        if let call = machine.state.activeCall, call.isLive, call.hasStarted {
            throw DaemonFailure(.busy, "call already active")
        }
        let call = try machine.ringingCall(id)
        let action = AppAction.acceptCall(chatID: call.chatID, callID: id)
        machine.calls.beginCommand(on: id)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            defer { machine.calls.endCommand() }
            try self.check(outcome, of: action)
            machine.calls.start(id)
            let nostrGroupID = machine.nostrGroupID(of: call.chatID)
            return .reply(
                CommandResult(
                    result: ["call_id": .string(id), "nostr_group_id": .string(nostrGroupID)],
                    after: [.callSessionStarted(callID: id, nostrGroupID: nostrGroupID, from: call.peer)]))
        }
    }

    private static func end(
        _ id: String, _ reason: String, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        let call = try machine.liveCall(id)
        let action = AppAction.endCall(chatID: call.chatID, callID: id, reason: reason)
        machine.calls.beginCommand(on: id)
        return .request(action, key: key, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            defer { machine.calls.endCommand() }
            try self.check(outcome, of: action)
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
    private static func sendAudio(
        _ id: String, _ path: String, rate: UInt32, channels: UInt16, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        let (_, track) = try machine.audioCall(id)
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
                (machine: inout DaemonMachine, media: CallMediaSession?) throws(DaemonFailure) -> CommandStep in
                let transfer = CallAudioTransfer(
                    callID: id, bytes: bytes, source: source, target: target, track: track.name,
                    media: try self.opened(media))
                var result = CommandResult(repliesToStandard: true)
                result.later = { await transfer.run() }
                return .reply(result)
            }
        }
    }

    private static func sendData(
        _ id: String, _ hex: String, _ track: String?, _ machine: DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        let call = try machine.liveCall(id)
        guard call.audioTrack == nil else { throw DaemonFailure(.badRequest, "active call is not a data call") }
        guard let bytes = Hex.decode(hex.trimmed.lowercased()) else {
            throw DaemonFailure(.badRequest, "payload_hex must be valid hex")
        }
        let name = track?.trimmed ?? ""
        return .openMedia(callID: id) {
            (machine: inout DaemonMachine, media: CallMediaSession?) throws(DaemonFailure) -> CommandStep in
            .sendData(try self.opened(media), bytes, track: name.isEmpty ? nil : name) {
                (machine: inout DaemonMachine, failure: AppCoreError?) throws(DaemonFailure) -> CommandStep in
                if let failure {
                    throw DaemonFailure(.runtimeError, "publish call data failed: \(failure.message)")
                }
                return .reply(CommandResult())
            }
        }
    }

    private static func opened(_ media: CallMediaSession?) throws(DaemonFailure) -> CallMediaSession {
        guard let media else { throw DaemonFailure(.runtimeError, "the call's media connection is not open") }
        return media
    }
}
