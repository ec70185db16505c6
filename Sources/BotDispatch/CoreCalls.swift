package import BotKit
import CallMedia
import Foundation
import Nostr
package import PikaCore

/// The calls of an account, as a service for its bots.
package struct CoreCalls: BotCalls {
    private let core: AppCore
    private let clock: any CoreClock

    package init(_ core: AppCore, clock: any CoreClock) {
        self.core = core
        self.clock = clock
    }

    package var current: AppState.ActiveCall? { core.snapshot().activeCall }

    package func answer(_ callID: String, in chatID: ChatID) async throws(BotError) -> any BotCall {
        let updates = core.updates()
        guard let call = current, call.callID == callID, call.phase == .ringing else {
            throw BotError(.callFailed, "the call does not ring any more")
        }
        return try await connect(callID, in: chatID, updates, after: .acceptCall(chatID: chatID, callID: callID))
    }

    package func invite(
        _ peer: PublicKey?, in chatID: ChatID, tracks: [CallSession.Track]
    ) async throws(BotError) -> any BotCall {
        let callID = UUID().uuidString.lowercased()
        let session = CallSession(moqURL: "", broadcastBase: "", tracks: tracks)
        let action = AppAction.startCall(chatID: chatID, session: session, callID: callID, peer: peer)
        return try await connect(callID, in: chatID, core.updates(), after: action)
    }

    /// Waits until the other side hears what is sent: it subscribes to tracks right after it has published its own.
    private func waitForPeer(_ media: CallMediaSession) async throws(BotError) {
        await media.peerArrival()
        do { try await clock.sleep(untilMonotonicMilliseconds: clock.monotonicMilliseconds.clampedAdding(500)) } catch {
            throw BotError(.callFailed, "the handler was cancelled before the call was connected")
        }
    }

    /// Performs an action, and returns the call once its media is connected. Ends the call if the task is cancelled.
    private func connect(
        _ callID: String, in chatID: ChatID, _ updates: AsyncStream<AppUpdate>, after action: AppAction
    ) async throws(BotError) -> any BotCall {
        let request = RequestID(rawValue: "bot-call/\(callID)")
        core.dispatch(action, request: request)
        defer {
            if Task.isCancelled { core.dispatch(.endCall(chatID: chatID, callID: callID, reason: "runtime_error")) }
        }
        for await update in updates {
            switch update {
            case .finished(_, request, .failed(let error)): throw BotError(.callFailed, error.message)
            case .fullState(let state):
                guard let call = state.activeCall, call.callID == callID else { continue }
                if case .ended(let reason) = call.phase {
                    throw BotError(.callFailed, "the call has ended: \(reason)")
                }
                guard call.phase == .active else { continue }
                guard let media = core.callMedia(callID: callID) else {
                    throw BotError(.callFailed, "the call's media is not available to bots")
                }
                try await waitForPeer(media)
                return CoreCall(core: core, chatID: chatID, peer: call.peer, media: media)
            default: continue
            }
        }
        throw BotError(.callFailed, "the handler was cancelled before the call was connected")
    }
}

/// A connected call of an account.
private struct CoreCall: BotCall {
    let core: AppCore
    let chatID: ChatID
    let peer: PublicKey
    let media: CallMediaSession

    var callID: String { media.callID }
    var tracks: [CallSession.Track] { media.tracks }
    var received: AsyncStream<CallMediaEvent> { media.received }
    var newestAudio: UInt64? { media.newestAudio }

    var phase: AppState.ActiveCall.Phase {
        guard let call = core.snapshot().activeCall, call.callID == callID else { return .ended(reason: "replaced") }
        return call.phase
    }

    func send(audio pcm: [UInt8]) async throws(BotError) {
        do { try await media.sendAudio(pcm) } catch { throw Self.failure(error) }
    }

    func finishAudio() async throws(BotError) {
        do { try await media.endAudio() } catch { throw Self.failure(error) }
    }

    func send(data bytes: [UInt8], track: String?) throws(BotError) {
        do throws(AppCoreError) { try media.sendData(bytes, track: track) } catch { throw Self.failure(error) }
    }

    func send(video accessUnit: [UInt8]) throws(BotError) {
        do throws(AppCoreError) { try media.sendVideo(accessUnit) } catch { throw Self.failure(error) }
    }

    func end(reason: String) {
        if case .ended = phase { return }
        core.dispatch(.endCall(chatID: chatID, callID: callID, reason: reason))
    }

    private static func failure(_ error: any Error) -> BotError {
        BotError(.callFailed, (error as? AppCoreError)?.message ?? "the call's media has failed: \(error)")
    }
}
