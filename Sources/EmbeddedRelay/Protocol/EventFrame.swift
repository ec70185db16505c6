import NIOCore
import Nostr

/// Builds EVENT messages around events already encoded as JSON, so that no event is encoded again per subscriber.
struct EventFrame {
    private let prefix: [UInt8]

    init(subscription: String) {
        prefix = Array("[\"EVENT\",".utf8) + JSONValue.string(subscription).json() + [UInt8(ascii: ",")]
    }

    func message(_ event: [UInt8]) -> ByteBuffer {
        var buffer = ByteBufferAllocator().buffer(capacity: prefix.count + event.count + 1)
        buffer.writeBytes(prefix)
        buffer.writeBytes(event)
        buffer.writeInteger(UInt8(ascii: "]"))
        return buffer
    }
}
