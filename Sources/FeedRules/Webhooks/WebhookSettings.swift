import Crypto
import Foundation
import Nostr
package import PikaCore

/// The rules of a webhook feed.
package struct WebhookSettings: Sendable {
    /// The proof that a request comes from the feed's source.
    package enum Authentication: Sendable {
        /// A signature with one of these keys.
        case hmac([WebhookKey])
        /// A token.
        case bearer(WebhookToken)
    }

    package var authentication: Authentication
    /// The maximum difference between a signature's time and this machine's clock.
    package var tolerance: Duration
    /// The maximum rate of genuine requests; nil for no limit.
    package var rate: RateLimit?

    package init(authentication: Authentication, tolerance: Duration = .seconds(300), rate: RateLimit? = nil) {
        self.authentication = authentication
        self.tolerance = tolerance
        self.rate = rate
    }
}

/// A secret key of signatures.
package struct WebhookKey: Sendable, CustomStringConvertible {
    let key: SymmetricKey

    /// Creates a key from a secret: `whsec_` and Base64, or any other text, whose bytes are the key. Nil if it has fewer
    /// than 16 bytes.
    package init?(_ secret: String) {
        let bytes: [UInt8]
        if secret.hasPrefix("whsec_") {
            guard let decoded = Base64.decode(secret.dropFirst(6)) else { return nil }
            bytes = decoded
        } else {
            bytes = Array(secret.utf8)
        }
        guard bytes.count >= 16 else { return nil }
        key = SymmetricKey(data: bytes)
    }

    package var description: String { "a webhook key" }

    /// Returns whether one of the signatures is that of the content; takes the same time for every wrong signature.
    func verifies(_ signatures: [[UInt8]], of content: [UInt8]) -> Bool {
        var isValid = false
        for signature in signatures
        where HMAC<SHA256>.isValidAuthenticationCode(signature, authenticating: content, using: key) {
            isValid = true
        }
        return isValid
    }
}

/// A bearer token.
package struct WebhookToken: Sendable, CustomStringConvertible {
    private let digest: SHA256Digest

    /// Nil if the token has fewer than 16 bytes.
    package init?(_ token: String) {
        guard token.utf8.count >= 16 else { return nil }
        digest = SHA256.hash(data: Data(token.utf8))
    }

    package var description: String { "a webhook token" }

    /// Returns whether a token is this one. Digests are compared in constant time.
    func matches(_ token: String) -> Bool { SHA256.hash(data: Data(token.utf8)) == digest }
}
