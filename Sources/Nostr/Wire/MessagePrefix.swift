/// Machine-readable word before the colon in an `OK` or `CLOSED` message (NIP-01, NIP-42).
public struct MessagePrefix: Hashable, Sendable, CustomStringConvertible {
    public let description: String

    public static let duplicate = MessagePrefix(description: "duplicate")
    public static let proofOfWork = MessagePrefix(description: "pow")
    public static let blocked = MessagePrefix(description: "blocked")
    public static let rateLimited = MessagePrefix(description: "rate-limited")
    public static let invalid = MessagePrefix(description: "invalid")
    public static let restricted = MessagePrefix(description: "restricted")
    public static let mute = MessagePrefix(description: "mute")
    public static let error = MessagePrefix(description: "error")
    public static let authenticationRequired = MessagePrefix(description: "auth-required")
    public static let unsupported = MessagePrefix(description: "unsupported")

    private init(description: String) { self.description = description }

    /// Parses the prefix of a message: one word up to the first colon; nil if there is none.
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
