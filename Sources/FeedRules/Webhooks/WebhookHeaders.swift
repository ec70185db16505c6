import Nostr

/// The headers of a webhook request, in the form of Standard Webhooks (https://www.standardwebhooks.com) or with a
/// bearer token (RFC 6750 §2.1).
package struct WebhookHeaders: Sendable, Hashable {
    /// The maximum number of signatures of one request: a sender that changes its key signs with both.
    static let maximumSignatures = 8

    /// `webhook-id`: the item's id; nil if absent.
    package var id: String?
    /// `webhook-timestamp` in Unix seconds; nil if absent.
    package var timestamp: Int64?
    /// The signatures of version 1 in `webhook-signature`, 32 bytes each.
    package var signatures: [[UInt8]] = []
    /// The token of `Authorization: Bearer`; nil if absent.
    package var token: String?
    /// `Content-Type`; nil if absent or longer than 256 bytes.
    package var contentType: String?

    /// Parses the headers; nil if one of them is malformed or repeated.
    ///
    /// - Parameter values: Returns the values of a header, named in lower case.
    package init?(_ values: (String) -> [String]) {
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature", "authorization"]
        where values(name).count > 1 {
            return nil
        }
        if let text = values("webhook-id").first {
            guard (1...256).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                return nil
            }
            // An id of digits could be mistaken for the timestamp of a request without an id.
            let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            guard !isNumber || !(9...12).contains(text.utf8.count) else { return nil }
            id = text
        }
        if let text = values("webhook-timestamp").first {
            guard text.utf8.count <= 12, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let time = Int64(text)
            else { return nil }
            timestamp = time
        }
        if let text = values("webhook-signature").first {
            guard text.utf8.count <= 2_048 else { return nil }
            // Entries of other versions are for other verifiers.
            for entry in text.split(separator: " ") where entry.hasPrefix("v1,") {
                guard signatures.count < Self.maximumSignatures, let bytes = Base64.decode(entry.dropFirst(3)),
                    bytes.count == 32
                else { return nil }
                signatures.append(bytes)
            }
        }
        if let text = values("authorization").first {
            let words = text.split(separator: " ")
            guard words.count == 2, words[0].lowercased() == "bearer", words[1].utf8.count <= 1_024 else { return nil }
            token = String(words[1])
        }
        contentType = values("content-type").first.flatMap { $0.utf8.count <= 256 ? $0 : nil }
    }
}
