import TLSCodec

/// State for opening the messages of one epoch: its secrets and its senders' leaves (RFC 9420 §15.3).
struct EpochMessages: Sendable {
    let epoch: Epoch
    /// The encoded GroupContext, which is covered by members' signatures.
    let context: [UInt8]
    let senderDataSecret: Secret
    var secretTree: SecretTree
    /// Whether authenticated data is framed as SafeAAD in this epoch (MLS extensions draft §4.9).
    let usesSafeAAD: Bool
    /// Leaves (nil: blank) replaced by the commit that ended this epoch; all others are as in the next epoch.
    var replacedLeaves: [LeafIndex: LeafNode?] = [:]

    init(epoch: Epoch, context: [UInt8], senderDataSecret: Secret, secretTree: SecretTree) {
        self.epoch = epoch
        self.context = context
        self.senderDataSecret = senderDataSecret
        self.secretTree = secretTree
        let extensions = (try? GroupContext(tlsEncoded: context))?.extensions ?? []
        self.usesSafeAAD = (try? AppDataDictionary(in: extensions))?[.safeAAD] != nil
    }
}
