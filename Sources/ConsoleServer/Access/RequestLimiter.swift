import Foundation

/// The limit of requests of a session, or of an address without one: a token bucket for each. Pure.
struct RequestLimiter: Sendable {
    enum Client: Sendable, Hashable {
        /// The fingerprint of a session's token.
        case session(Data)
        case address(String)
    }

    private struct Bucket: Sendable {
        var tokens: Double
        /// Milliseconds.
        var at: Int64
    }

    /// Requests at once, and their refill. A page with its files needs four.
    static let burst = 120.0
    static let perSecond = 20.0
    /// Clients that are remembered; beyond it the one seen least recently is forgotten.
    static let maximumClients = 1_024

    private var buckets: [Client: Bucket] = [:]

    var clientCount: Int { buckets.count }

    /// Counts a request; returns the seconds to wait if it is one too many.
    ///
    /// - Parameter now: milliseconds of a clock that only rises.
    mutating func delay(of client: Client, now: Int64) -> Int64? {
        var bucket = buckets[client] ?? Bucket(tokens: Self.burst, at: now)
        let seconds = Double(max(0, now - bucket.at)) / 1_000
        bucket.tokens = min(Self.burst, bucket.tokens + seconds * Self.perSecond)
        bucket.at = now
        let isAdmitted = bucket.tokens >= 1
        if isAdmitted { bucket.tokens -= 1 }
        if buckets[client] == nil, buckets.count >= Self.maximumClients,
            let oldest = buckets.min(by: { $0.value.at < $1.value.at })
        {
            buckets[oldest.key] = nil
        }
        buckets[client] = bucket
        return isAdmitted ? nil : 1
    }
}
