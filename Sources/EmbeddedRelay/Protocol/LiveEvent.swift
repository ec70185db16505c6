import NIOCore

/// An event on its way to one subscription, already encoded as that subscription's EVENT message.
struct LiveEvent: Hashable, Sendable {
    /// Its place in the store; nil for ephemeral events, which have none.
    let sequence: Int64?
    let message: ByteBuffer
}
