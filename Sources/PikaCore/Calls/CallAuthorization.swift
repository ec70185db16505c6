import MLS
import Marmot
package import Nostr

/// The token that authenticates an invite or accept as coming from within the group (docs/protocol/marmot.md §9.2).
package enum CallAuthorization {
    /// Returns `capv1_` and 64 hex digits, for a call between `first` and `second` in the group's current epoch.
    static func token(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey, in group: AccountGroup
    ) -> String {
        let seed = self.seed(session, callID: callID, between: first, and: second)
        let hash = self.hash("pika.call.relay.auth.seed.v1", seed, Array(callID.utf8))
        let key = EncryptedMedia.key(
            group.mediaSecret, hash: hash, mimeType: "application/pika-call-auth",
            filename: "call/\(callID)/relay-auth")
        let token = self.hash(
            "pika.call.relay.auth.token.v1", key.copyBytes(), Array(callID.utf8), Array(session.moqURL.utf8),
            Array(session.broadcastBase.utf8))
        return "capv1_" + Hex.encode(token)
    }

    /// Returns whether the session's token is well-formed and equals the one derived from the group's current epoch.
    static func isValid(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey, in group: AccountGroup
    ) -> Bool {
        guard self.isToken(session.relayAuth) else { return false }
        let expected = self.token(session, callID: callID, between: first, and: second, in: group)
        return self.isEqual(session.relayAuth, expected)
    }

    static func isToken(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst(6)
        return text.hasPrefix("capv1_") && digits.count == 64
            && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    /// Compares two tokens in time that depends only on their lengths.
    static func isEqual(_ left: String, _ right: String) -> Bool { Secret(left.utf8) == Secret(right.utf8) }

    /// Returns the input of all derivations of a call: its id, its relay and broadcast base, and its participants.
    package static func seed(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey
    ) -> [UInt8] {
        let low = min(first.hex, second.hex)
        let high = max(first.hex, second.hex)
        let parts = ["pika-call-media-v1", callID, session.moqURL, session.broadcastBase, low, high]
        return Array(parts.joined(separator: "|").utf8)
    }

    /// Returns the SHA-256 of all parts, each preceded by its 32-bit length.
    package static func hash(_ label: String, _ parts: [UInt8]...) -> [UInt8] {
        var input: [UInt8] = []
        for part in [Array(label.utf8)] + parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { input.append(contentsOf: $0) }
            input += part
        }
        return SHA256Derivation.digest(input)
    }
}
