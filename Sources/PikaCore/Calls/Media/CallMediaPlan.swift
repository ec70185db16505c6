import MLS
import Marmot
import Nostr

/// The parameters of a call's media session.
struct CallMediaPlan: Sendable, Hashable {
    let callID: String
    /// The media relay.
    let url: String
    let ownPath: String
    let peerPath: String
    let tracks: [CallSession.Track]
    let keys: CallMediaKeys
    let isMuted: Bool
    let isCameraOn: Bool

    init(_ call: CallMachine.Call, in group: MarmotGroup, account: PublicKey) {
        self.callID = call.id
        self.url = call.session.moqURL
        self.keys = CallMediaKeys(
            call.session, callID: call.id, own: account, peer: call.peer, secret: EncryptedMedia.secret(group),
            epoch: group.epoch.rawValue)
        self.ownPath = "\(call.session.broadcastBase)/\(self.keys.ownLabel)"
        self.peerPath = "\(call.session.broadcastBase)/\(self.keys.peerLabel)"
        self.tracks = call.session.tracks
        self.isMuted = call.isMuted
        self.isCameraOn = call.isCameraOn
    }

    func hash(into hasher: inout Hasher) { hasher.combine(self.callID) }
}
