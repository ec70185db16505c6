/// Position of a message among its sender's messages in one epoch.
public struct MessagePlace: Hashable, Sendable {
    /// Epoch in which the message was sent.
    public let epoch: Epoch
    /// The sender's leaf.
    public let sender: LeafIndex
    /// Number of application messages that the sender encrypted before it in that epoch (RFC 9420 §9.1).
    public let generation: UInt32
}

extension MLSGroup {
    /// Returns the position of an encrypted application message among its sender's messages, without consuming its key.
    /// Nil for any other message, and if the secrets of its epoch are unavailable.
    ///
    /// Any member can claim any position; only decrypting and verifying the message proves it.
    public func place(of message: MLSMessage) -> MessagePlace? {
        guard case .privateMessage(let message) = message, message.contentType == .application,
            message.groupID == self.groupID,
            let messages = message.epoch == self.epoch
                ? self.messages : self.past.first(where: { $0.epoch == message.epoch }),
            let sender = try? SenderData(
                self.cipherSuite, of: message, senderDataSecret: messages.senderDataSecret)
        else { return nil }
        return MessagePlace(epoch: message.epoch, sender: sender.leafIndex, generation: sender.generation)
    }
}
