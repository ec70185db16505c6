import Crypto
import Foundation
package import Nostr
import PikaCore

/// Decides on the requests of one webhook feed: authentication, replays and rate. Pure.
///
/// The signed content is `ID.TIMESTAMP.BODY`, or `TIMESTAMP.BODY` for a request without an id, whose item gets the hash
/// of that content as its id. So an attacker can neither change the id of a request nor repeat it as another item: the
/// inbox knows the id, even after a restart.
package struct WebhookRules: Sendable {
    package enum Verdict: Sendable, Hashable {
        /// A genuine request, for an item with this id.
        case admitted(id: String)
        /// A genuine request that was stored before.
        case repeated(id: String)
        case refused(WebhookRefusal)
    }

    /// The number of ids that are remembered, besides those that the inbox remembers.
    private static let remembered = 1_024

    private let settings: WebhookSettings
    private var seen = RecentEntries<String, Bool>(capacity: Self.remembered)
    private var limiter = RateLimiter<String>(capacity: 1)

    package init(_ settings: WebhookSettings) {
        self.settings = settings
    }

    /// Decides on a request; it must be `stored` before it counts as a repetition.
    ///
    /// - Parameter generator: Gives a request with a token and without an id an id of its own.
    package mutating func judge(
        _ headers: WebhookHeaders, body: [UInt8], nowMilliseconds now: Int64,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        let id: String
        switch settings.authentication {
        case .hmac(let keys):
            guard let timestamp = headers.timestamp, !headers.signatures.isEmpty else { return .refused(.unsigned) }
            let content = Array((headers.id.map { "\($0)." } ?? "").utf8) + Array("\(timestamp).".utf8) + body
            var isGenuine = false
            for key in keys where key.verifies(headers.signatures, of: content) { isGenuine = true }
            guard isGenuine else { return .refused(.forged) }
            let (difference, overflow) = (now / 1_000).subtractingReportingOverflow(timestamp)
            let tolerance = UInt64(clamping: settings.tolerance.components.seconds)
            guard !overflow, difference.magnitude <= tolerance else { return .refused(.expired) }
            id = headers.id ?? SHA256.hash(data: Data(content)).map { byte in StreamIDs.hex(byte) }.joined()
        case .bearer(let token):
            guard let given = headers.token else { return .refused(.unsigned) }
            guard token.matches(given) else { return .refused(.forged) }
            id = headers.id ?? String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        }
        if seen[id] != nil { return .repeated(id: id) }
        if let rate = settings.rate, !limiter.consume("", rate, nowMilliseconds: now) {
            return .refused(.tooMany(retryAfter: Self.wait(rate)))
        }
        return .admitted(id: id)
    }

    /// Records that a request's item is durable.
    package mutating func stored(_ id: String) { seen[id] = true }

    /// Returns the seconds after which one more request is allowed.
    private static func wait(_ rate: RateLimit) -> Int64 {
        let seconds = max(1, rate.per.components.seconds)
        return max(1, seconds / Int64(max(1, rate.count)))
    }
}

/// The reason why a webhook request was not stored.
package enum WebhookRefusal: Sendable, Hashable {
    case unknownFeed
    case notPost
    case malformed
    case unsigned
    case forged
    case expired
    case tooLarge(limit: Int)
    case tooSlow
    case tooMany(retryAfter: Int64)
    case full
    case ending

    /// The status of the response (RFC 9110 §15).
    package var status: Int {
        switch self {
        case .unknownFeed: 404
        case .notPost: 405
        case .malformed: 400
        case .unsigned, .forged, .expired: 401
        case .tooLarge: 413
        case .tooSlow: 408
        case .tooMany: 429
        case .full, .ending: 503
        }
    }

    /// The seconds for `Retry-After`; nil if trying again does not help.
    package var retryAfter: Int64? {
        switch self {
        case .tooMany(let seconds): seconds
        case .full: 30
        case .ending: 5
        case .unknownFeed, .notPost, .malformed, .unsigned, .forged, .expired, .tooLarge, .tooSlow: nil
        }
    }

    package var message: String {
        switch self {
        case .unknownFeed: "no feed has this name"
        case .notPost: "use POST"
        case .malformed: "a webhook header is malformed or repeated"
        case .unsigned: "the signature or token is missing"
        case .forged: "the signature or token is wrong"
        case .expired: "the timestamp is too far from this machine's clock"
        case .tooLarge(let limit): "the body exceeds \(limit) bytes"
        case .tooSlow: "the body took too long"
        case .tooMany: "too many requests"
        case .full: "too many items wait for their handlers"
        case .ending: "the worker is ending"
        }
    }

    /// The error that the feed records.
    package var error: FeedError {
        switch self {
        case .unsigned, .forged, .expired: FeedError(.unauthorized, message)
        case .tooLarge: FeedError(.tooLarge, message)
        case .full: FeedError(.full, message)
        case .unknownFeed, .notPost, .malformed, .tooSlow, .tooMany, .ending: FeedError(.refused, message)
        }
    }
}

/// The answer to a webhook request.
package enum WebhookAnswer: Sendable, Hashable {
    /// The item is durable, under this event id.
    case stored(EventID)
    /// It was durable already.
    case duplicate(id: String)
    case refused(WebhookRefusal)

    /// 202 for a stored item, 200 for a repeated one.
    package var status: Int {
        switch self {
        case .stored: 202
        case .duplicate: 200
        case .refused(let refusal): refusal.status
        }
    }

    /// The body of the response.
    package var json: JSONValue {
        switch self {
        case .stored(let id): ["status": "stored", "event": .string(id.hex)]
        case .duplicate(let id): ["status": "duplicate", "id": .string(id)]
        case .refused(let refusal): ["error": .string(refusal.message)]
        }
    }
}
