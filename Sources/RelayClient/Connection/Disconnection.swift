/// The reason why a connection ended or could not be made.
package struct Disconnection: Hashable, Sendable {
    /// Fixed set of reasons, for metric labels.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// No TCP connection: name not found, refused, timed out.
        case unreachable
        /// The address is private, and the configuration does not name the relay.
        case notAllowed = "not_allowed"
        /// The certificate is invalid, or the handshake failed.
        case tls
        /// The server does not accept WebSocket upgrades at this URL.
        case upgrade
        /// The relay closed it.
        case closed
        /// The relay sent nothing for too long.
        case silent
        /// A frame or message larger than allowed, or in too many fragments.
        case oversize
        /// A frame that violates RFC 6455.
        case protocolError = "protocol"
        /// The relay does not read what is sent to it.
        case stalled
        /// The relay sent too many events that were not requested.
        case flooded
        /// A read or write failed.
        case failed
        /// This side closed the connection.
        case goodbye
    }

    package let reason: Reason
    /// Description for people.
    package let text: String

    init(_ reason: Reason, _ text: String) {
        self.reason = reason
        self.text = text
    }
}
