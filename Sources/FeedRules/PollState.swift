import Crypto
import Foundation
import Nostr

/// The state of a polled document: its validators (RFC 9110 §8.8), and the number of its versions seen so far.
///
/// Stored with each item, so that a restart neither repeats a version nor misses one that the document had before.
package struct PollState: Sendable, Hashable {
    package enum Outcome: Sendable, Hashable {
        case unchanged
        /// A new version: its id, and the state once it is stored.
        case changed(id: String, PollState)
        case failed(String)
    }

    /// The document's entity tag and time of change, as the server states them.
    package private(set) var entityTag: String?
    package private(set) var lastModified: String?
    private var digest = ""
    private var versions: Int64 = 0

    package init() {}

    /// The headers that ask for a changed document only.
    package var conditions: [FeedHeader] {
        if let entityTag { return [FeedHeader(name: "If-None-Match", value: entityTag)] }
        return lastModified.map { [FeedHeader(name: "If-Modified-Since", value: $0)] } ?? []
    }

    /// Decides on a response.
    package func receive(
        status: Int, entityTag: String?, lastModified: String?, body: [UInt8]
    ) -> Outcome {
        switch status {
        case 304: return .unchanged
        case 200:
            let digest = SHA256.hash(data: Data(body)).map { byte in StreamIDs.hex(byte) }.joined()
            guard digest != self.digest else { return .unchanged }
            var next = self
            next.entityTag = entityTag.flatMap { $0.utf8.count <= 1_024 ? $0 : nil }
            next.lastModified = lastModified.flatMap { $0.utf8.count <= 128 ? $0 : nil }
            next.digest = digest
            let (sum, overflow) = versions.addingReportingOverflow(1)
            next.versions = overflow ? 1 : sum
            return .changed(id: "\(next.versions)-\(digest)", next)
        case 204, 404, 410: return .failed("status \(status): no document")
        case 300...399: return .failed("status \(status): redirects are not followed; write the final address")
        default: return .failed("status \(status)")
        }
    }

    // MARK: Stored form: JSON, version 1

    package var stored: [UInt8] {
        var json: JSONObject = ["v": 1, "digest": .string(digest), "versions": .integer(versions)]
        json["etag"] = entityTag.map(JSONValue.string)
        json["modified"] = lastModified.map(JSONValue.string)
        return JSONValue.object(json).json()
    }

    /// Reads a stored state; nil for any other bytes.
    package init?(stored: [UInt8]) {
        guard let json = try? JSONValue(json: stored), json["v"]?.integer == 1, let digest = json["digest"]?.string,
            let versions = json["versions"]?.integer, versions >= 0
        else { return nil }
        self.digest = digest
        self.versions = versions
        entityTag = json["etag"]?.string
        lastModified = json["modified"]?.string
    }
}
