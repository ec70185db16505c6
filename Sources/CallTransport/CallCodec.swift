import CallWire
import RelayClient

/// The framing of call relays on a WebSocket.
struct CallCodec: WebSocketCodec {
    /// Drops texts and malformed messages: a missing frame is concealed like a lost one.
    func decode(_ message: WebSocketMessage) -> CallRelayMessage? {
        guard case .binary(let bytes) = message else { return nil }
        return try? CallRelayMessage(bytes: bytes)
    }

    func encode(_ message: CallClientMessage) -> WebSocketMessage { .binary(message.bytes) }
}
