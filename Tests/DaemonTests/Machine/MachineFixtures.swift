import Nostr

@testable import PikaCore

/// Values of the core for tests of the daemon's machines.
enum MachineFixtures {
    static let peer: PublicKey = {
        var generator = SystemRandomNumberGenerator()
        return KeyPair.generate(using: &generator).publicKey
    }()

    static func join(_ inboxID: Int64, _ chatID: ChatID) -> CoreEvent {
        CoreEvent(
            inboxID: inboxID, chatID: chatID, receivedAt: 0,
            content: .joined(JoinEvent(inviter: self.peer, name: "n", epoch: 1, memberCount: 2)))
    }

    static func call(
        _ phase: AppState.ActiveCall.Phase, isOutgoing: Bool = false, statistics: CallStatistics = CallStatistics()
    ) -> AppState.ActiveCall {
        AppState.ActiveCall(
            callID: "id", chatID: "c", peer: self.peer, isOutgoing: isOutgoing, phase: phase, isVideo: false,
            isMuted: false, isCameraOn: false, startedAt: 0, connectedAt: nil, tracks: [], statistics: statistics)
    }
}
