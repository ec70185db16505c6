/// A request that an outbox keeps until the service has answered it, and its rules.
public struct OutboxRequest: Sendable, Hashable {
    /// The request. A header `Idempotency-Key` is added to it.
    public var request: BotHTTPRequest
    /// Identifies the request for the service across all attempts, 1 to 200 visible ASCII characters;
    /// ``BotContext/idempotencyKey(_:)`` is the same when a handler runs again.
    public var idempotencyKey: String
    /// Requests of one key are sent one after the other, in the order in which they were added.
    public var orderKey: String
    /// The time after which the request is not sent any more.
    public var expires: UnixTime

    /// Creates a request.
    public init(_ request: BotHTTPRequest, idempotencyKey: String, orderKey: String = "", expires: UnixTime) {
        self.request = request
        self.idempotencyKey = idempotencyKey
        self.orderKey = orderKey
        self.expires = expires
    }
}

/// The end of a request in an outbox.
public struct OutboxOutcome: Sendable, Hashable {
    /// How a request ended.
    public enum Result: Sendable, Hashable {
        /// The service answered with a final status: accepted (2xx), or refused.
        case answered(BotHTTPResponse)
        /// The request expired. If ``OutboxOutcome/attempts`` is not 0, the service may have received it.
        case expired
        /// The session ended: `BotError.Code.signedOut` or `BotError.Code.unauthorized`.
        case failed(BotError)
    }

    /// The request.
    public var request: OutboxRequest
    /// How it ended.
    public var result: Result
    /// The number of attempts since the last start of the process.
    public var attempts: Int

    /// Creates an outcome, for tests.
    public init(request: OutboxRequest, result: Result, attempts: Int) {
        self.request = request
        self.result = result
        self.attempts = attempts
    }

    /// Whether the service accepted the request.
    public var isAccepted: Bool {
        guard case .answered(let response) = result else { return false }
        return (200..<300).contains(response.status)
    }
}

/// Limits of an outbox.
public struct OutboxLimits: Sendable, Hashable {
    /// The most requests that wait, at most 1,000.
    public var requests = 256
    /// The most bytes that wait: URLs, headers and bodies.
    public var bytes = 1 << 20
    /// The most requests in flight at once.
    public var inFlight = 4
    /// The wait before the second attempt; it doubles with each further one, with jitter.
    public var firstWait = Duration.seconds(1)
    /// The longest wait between attempts.
    public var longestWait = Duration.seconds(120)

    /// Creates the default limits.
    public init() {}
}
