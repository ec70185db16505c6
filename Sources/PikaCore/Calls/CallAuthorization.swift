import MLS
import Marmot
import Nostr

/// The token that proves that an invite or accept comes from within the group (wire §8.1).
enum CallAuthorization {
    /// `capv1_` and 64 hex digits, for a call between `first` and `second` in the group's current epoch.
    static func token(
        _ session: CallSession, callID: String, between first: PublicKey, and second: PublicKey, in group: MarmotGroup
    ) -> String {
        let low = min(first.hex, second.hex)
        let high = max(first.hex, second.hex)
        let seed = [
            "pika-call-media-v1", callID, session.moqURL, session.broadcastBase, low, high,
        ].joined(separator: "|")
        let hash = self.hash("pika.call.relay.auth.seed.v1", Array(seed.utf8), Array(callID.utf8))
        let key = EncryptedMedia.key(
            EncryptedMedia.secret(group), hash: hash, mimeType: "application/pika-call-auth",
            filename: "call/\(callID)/relay-auth")
        let token = self.hash(
            "pika.call.relay.auth.token.v1", key.copyBytes(), Array(callID.utf8), Array(session.moqURL.utf8),
            Array(session.broadcastBase.utf8))
        return "capv1_" + Hex.encode(token)
    }

    /// SHA-256 over each part as a 32-bit length and its bytes.
    private static func hash(_ label: String, _ parts: [UInt8]...) -> [UInt8] {
        var input: [UInt8] = []
        for part in [Array(label.utf8)] + parts {
            withUnsafeBytes(of: UInt32(part.count).bigEndian) { input.append(contentsOf: $0) }
            input += part
        }
        return SHA256Derivation.digest(input)
    }
}
