/// Machine-readable word before the colon in an `OK` or `CLOSED` message (NIP-01, NIP-42).
public struct MessagePrefix: Hashable, Sendable, CustomStringConvertible {
    /// The word without the colon.
    public let description: String

    /// The relay already has the event.
    public static let duplicate = MessagePrefix(description: "duplicate")
    /// The event's proof of work is missing or insufficient (NIP-13).
    public static let proofOfWork = MessagePrefix(description: "pow")
    /// The relay refuses the author or the client's address.
    public static let blocked = MessagePrefix(description: "blocked")
    /// The client sends too much in too short a time.
    public static let rateLimited = MessagePrefix(description: "rate-limited")
    /// The event or the request is invalid.
    public static let invalid = MessagePrefix(description: "invalid")
    /// The authenticated key lacks the permission (NIP-42).
    public static let restricted = MessagePrefix(description: "restricted")
    /// The event was not delivered because no client was listening, and it is ephemeral.
    public static let mute = MessagePrefix(description: "mute")
    /// The relay failed for another reason.
    public static let error = MessagePrefix(description: "error")
    /// The client must authenticate first (NIP-42).
    public static let authenticationRequired = MessagePrefix(description: "auth-required")
    /// The relay does not support the request.
    public static let unsupported = MessagePrefix(description: "unsupported")

    private init(description: String) { self.description = description }

    /// Parses the prefix of a message: one word up to the first colon; nil if absent.
    public init?(of message: String) {
        guard let colon = message.utf8.firstIndex(of: UInt8(ascii: ":")), colon != message.startIndex else {
            return nil
        }
        let word = message[..<colon]
        guard word.utf8.allSatisfy({ (0x61...0x7a).contains($0) || $0 == UInt8(ascii: "-") }) else { return nil }
        description = String(word)
    }

    /// Returns `prefix: text`.
    public func message(_ text: String) -> String { "\(description): \(text)" }
}
