import NIOCore

/// Messages queued until a client's socket accepts more bytes.
///
/// Answers to requests are bounded by the number of requests that a client may make before it has read them. Live
/// events are unsolicited, so their bytes are counted, and a client that falls too far behind is dropped.
struct Outbox: Sendable {
    private struct Item: Sendable {
        let message: ByteBuffer
        let isLive: Bool
    }

    let backlogBytes: Int
    private var items = CircularBuffer<Item>()
    private(set) var liveBytes = 0

    init(backlogBytes: Int) {
        self.backlogBytes = backlogBytes
    }

    var isEmpty: Bool { items.isEmpty }

    mutating func append(_ message: ByteBuffer) {
        items.append(Item(message: message, isLive: false))
    }

    /// - Returns: false when the client is too far behind; the message is not queued then.
    mutating func appendLive(_ message: ByteBuffer) -> Bool {
        guard liveBytes + message.readableBytes <= backlogBytes else { return false }
        items.append(Item(message: message, isLive: true))
        liveBytes += message.readableBytes
        return true
    }

    mutating func popFirst() -> ByteBuffer? {
        guard let item = items.popFirst() else { return nil }
        if item.isLive { liveBytes -= item.message.readableBytes }
        return item.message
    }

    mutating func removeAll() {
        items.removeAll()
        liveBytes = 0
    }
}
