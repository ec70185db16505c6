import NIOCore

/// An event for one subscription, already encoded as that subscription's EVENT message.
struct LiveEvent: Hashable, Sendable {
    /// Its sequence number in the store; nil for ephemeral events, which have none.
    let sequence: Int64?
    let message: ByteBuffer
}
