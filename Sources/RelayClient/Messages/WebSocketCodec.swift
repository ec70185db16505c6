/// A complete WebSocket message (RFC 6455 §5.6).
package enum WebSocketMessage: Hashable, Sendable {
    case text(String)
    case binary([UInt8])

    /// Size of the payload in bytes.
    package var bytes: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}

/// Converts between WebSocket messages and what a ``MessageConnection`` carries.
package protocol WebSocketCodec: Sendable {
    associatedtype Incoming: Sendable
    associatedtype Outgoing: Sendable

    /// Decodes a message; nil to drop it.
    func decode(_ message: WebSocketMessage) -> Incoming?
    func encode(_ message: Outgoing) -> WebSocketMessage
}

/// Passes messages on as they are.
package struct PlainMessages: WebSocketCodec {
    package init() {}
    package func decode(_ message: WebSocketMessage) -> WebSocketMessage? { message }
    package func encode(_ message: WebSocketMessage) -> WebSocketMessage { message }
}
