package import MLS
import Marmot
package import Nostr

/// The parameters of a call's media: everything that both sides derive its keys and paths from.
package struct CallMediaPlan: Sendable, Hashable {
    package let callID: String
    package let session: CallSession
    package let account: PublicKey
    package let peer: PublicKey
    /// The media secret of the epoch in which the call was accepted; later epochs do not change the call's keys.
    package let secret: Secret
    package let epoch: UInt64
    package let isMuted: Bool
    package let isCameraOn: Bool

    init(_ call: CallMachine.Call, in group: AccountGroup, account: PublicKey) {
        self.callID = call.id
        self.session = call.session
        self.account = account
        self.peer = call.peer
        self.secret = group.mediaSecret
        self.epoch = group.epoch.rawValue
        self.isMuted = call.isMuted
        self.isCameraOn = call.isCameraOn
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.callID) }
}
