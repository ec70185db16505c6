/// Which of a member's messages of one epoch a message is.
public struct MessagePlace: Hashable, Sendable {
    public let epoch: Epoch
    public let sender: LeafIndex
    /// Counts the application messages that the sender has encrypted in that epoch (RFC 9420 §9.1).
    public let generation: UInt32
}

extension MLSGroup {
    /// Where an encrypted application message stands among those of its sender, without taking it in; nil for any other
    /// message, and without the secrets of its epoch.
    ///
    /// Any member can state any place: only taking the message in shows whether it is genuine.
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
