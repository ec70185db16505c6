/// What is needed to open the messages of one epoch: its secrets, and who its senders were (RFC 9420 §15.3).
struct EpochMessages: Sendable {
    let epoch: Epoch
    /// The encoded GroupContext, which member signatures cover.
    let context: [UInt8]
    let senderDataSecret: Secret
    var secretTree: SecretTree
    /// Leaves (nil: blank) that the commit which ended this epoch replaced; all others are as in the epoch after.
    var replacedLeaves: [LeafIndex: LeafNode?] = [:]

    init(epoch: Epoch, context: [UInt8], senderDataSecret: Secret, secretTree: SecretTree) {
        self.epoch = epoch
        self.context = context
        self.senderDataSecret = senderDataSecret
        self.secretTree = secretTree
    }
}
