import TLSCodec

@testable import MLS
@testable import Marmot

extension MarmotGroup {
    /// Sets the current epoch number, as a hostile inviter can; all members that do the same agree.
    mutating func move(to epoch: Epoch) {
        self.mls.context.epoch = epoch
        self.mls.contextBytes = self.mls.context.tlsEncoded()
        self.mls.messages = EpochMessages(
            epoch: epoch, context: self.mls.contextBytes, senderDataSecret: self.mls.messages.senderDataSecret,
            secretTree: self.mls.messages.secretTree)
        self.mls.past = []
        self.snapshots = []
        self.outerKeys = [epoch: self.profile.outerKey(self.mls)]
        self.markAllChanged()
    }
}
