import MLS
import Marmot
import Nostr

/// The token that proves that an invite or accept comes from within the group (wire §8.1).
enum CallAuthorization {
    /// `capv1_` and 64 hex digits, for a call between `first` and `second` in the group's current epoch.
    static func token(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey, in group: MarmotGroup
    ) -> String {
        let seed = self.seed(session, callID: callID, between: first, and: second)
        let hash = self.hash("pika.call.relay.auth.seed.v1", seed, Array(callID.utf8))
        let key = EncryptedMedia.key(
            EncryptedMedia.secret(group), hash: hash, mimeType: "application/pika-call-auth",
            filename: "call/\(callID)/relay-auth")
        let token = self.hash(
            "pika.call.relay.auth.token.v1", key.copyBytes(), Array(callID.utf8), Array(session.moqURL.utf8),
            Array(session.broadcastBase.utf8))
        return "capv1_" + Hex.encode(token)
    }

    /// Whether a token has the form of one and is that which the group's present epoch gives.
    static func isValid(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey, in group: MarmotGroup
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

    /// Compares two tokens in a time that depends on their lengths only.
    static func isEqual(_ left: String, _ right: String) -> Bool { Secret(left.utf8) == Secret(right.utf8) }

    /// What everything of a call is derived from: its id, where it is carried and who takes part.
    static func seed(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey
    ) -> [UInt8] {
        let low = min(first.hex, second.hex)
        let high = max(first.hex, second.hex)
        let parts = ["pika-call-media-v1", callID, session.moqURL, session.broadcastBase, low, high]
        return Array(parts.joined(separator: "|").utf8)
    }

    /// SHA-256 over each part as a 32-bit length and its bytes.
    static func hash(_ label: String, _ parts: [UInt8]...) -> [UInt8] {
        var input: [UInt8] = []
        for part in [Array(label.utf8)] + parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { input.append(contentsOf: $0) }
            input += part
        }
        return SHA256Derivation.digest(input)
    }
}
