import Foundation

/// A request as the simulator sees it, without transport.
package struct SimulatedRequest: Hashable, Sendable {
    package var method: String
    /// Without the query.
    package var path: String
    package var query: [String: String]
    package var authorization: String?
    package var idempotencyKey: String?
    package var ifMatch: String?
    package var body: [UInt8]

    package init(
        _ method: String, _ target: String, authorization: String? = nil, idempotencyKey: String? = nil,
        ifMatch: String? = nil, body: [UInt8] = []
    ) {
        self.method = method
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        self.path = String(parts.first ?? "")
        self.query = [:]
        for pair in (parts.count > 1 ? String(parts[1]) : "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = sides.first else { continue }
            self.query[name] = sides.count > 1 ? sides[1].removingPercentEncoding ?? sides[1] : ""
        }
        self.authorization = authorization
        self.idempotencyKey = idempotencyKey
        self.ifMatch = ifMatch
        self.body = body
    }
}

/// An answer of the simulator, without transport.
package struct SimulatedResponse: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        case bytes([UInt8], type: String)
        /// Motion JPEG until the client or the simulator ends it.
        case pictures
        /// The connection is closed without an answer: the request was executed, and its acknowledgement is lost.
        case nothing
    }

    package var status: Int
    package var content: Content
    /// Milliseconds to wait before the answer.
    package var delay = 0

    package init(status: Int, content: Content) {
        self.status = status
        self.content = content
    }

    /// The body; empty for other contents.
    package var body: [UInt8] { if case .bytes(let bytes, _) = self.content { bytes } else { [] } }
}
