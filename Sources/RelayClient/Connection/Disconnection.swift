/// Why a connection ended or never came to be.
package struct Disconnection: Hashable, Sendable {
    /// One of a few words, for counters.
    package enum Reason: String, Hashable, Sendable, CaseIterable {
        /// No TCP connection: name not found, refused, timed out.
        case unreachable
        /// Only others name it, and it is at a private address.
        case notAllowed = "not_allowed"
        /// The certificate does not hold, or the handshake failed.
        case tls
        /// The server does not speak WebSocket here.
        case upgrade
        /// The relay closed it.
        case closed
        /// Nothing came for too long.
        case silent
        /// A frame or message larger than allowed, or in too many fragments.
        case oversize
        /// A frame against RFC 6455.
        case protocolError = "protocol"
        /// The relay does not take what is sent.
        case stalled
        /// The relay sent too much that was not asked for.
        case flooded
        /// Read or write failed.
        case failed
        /// We went.
        case goodbye
    }

    package let reason: Reason
    /// In words, for people.
    package let text: String

    init(_ reason: Reason, _ text: String) {
        self.reason = reason
        self.text = text
    }
}
