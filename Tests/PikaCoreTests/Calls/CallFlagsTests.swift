import Nostr
import Testing

@testable import PikaCore

/// The flags of a call, by phase.
@Suite struct CallFlagsTests {
    private func call(_ phase: AppState.ActiveCall.Phase, isVideo: Bool) throws -> AppState.ActiveCall {
        var random = SystemRandomNumberGenerator()
        return AppState.ActiveCall(
            callID: "id", chatID: "c", peer: KeyPair.generate(using: &random).publicKey, isOutgoing: true, phase: phase,
            isVideo: isVideo, isMuted: false, isCameraOn: isVideo, startedAt: 0, connectedAt: nil, tracks: [],
            statistics: CallStatistics())
    }

    @Test func liveCallsPresentTheirScreen() throws {
        let phases: [AppState.ActiveCall.Phase] = [
            .offering, .ringing, .connecting, .active, .ended(reason: "user_hangup"),
        ]
        for isVideo in [false, true] {
            let calls = try phases.map { try self.call($0, isVideo: isVideo) }
            #expect(calls.map(\.isLive) == [true, true, true, true, false])
            #expect(calls.map(\.shouldAutoPresentCallScreen) == [true, true, true, true, false])
        }
    }

    @Test func proximityLockNeedsLiveAudioCall() throws {
        let phases: [AppState.ActiveCall.Phase] = [.offering, .ringing, .connecting, .active, .ended(reason: "")]
        let audio = try phases.map { try self.call($0, isVideo: false).shouldEnableProximityLock }
        #expect(audio == [true, false, true, true, false])
        let video = try phases.map { try self.call($0, isVideo: true).shouldEnableProximityLock }
        #expect(video == [false, false, false, false, false])
    }
}
