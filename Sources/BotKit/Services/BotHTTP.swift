/// HTTP requests of bots.
public protocol BotHTTP: Sendable {
    /// Sends a request and reads the whole response, even one with an error status. Redirects are returned, not
    /// followed. Throws `BotError.Code.requestFailed` if there is no complete response within the limits.
    func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse

    /// Sends a request and passes the response on while it arrives: first its head, then each part of the body. The
    /// next part is read when `receive` has returned. Throws `BotError.Code.requestFailed`, also when `receive` throws.
    func stream(
        _ request: BotHTTPRequest, to receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws(BotError)
}

extension BotHTTP {
    /// Reads the whole response first, for services without streaming.
    public func stream(
        _ request: BotHTTPRequest, to receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws(BotError) {
        let response = try await send(request)
        do {
            try await receive(.head(BotHTTPHead(status: response.status, headers: response.headers)))
            if !response.body.isEmpty { try await receive(.body(response.body)) }
        } catch {
            throw (error as? BotError) ?? BotError(.requestFailed, "the response was not accepted")
        }
    }
}

/// A part of a streamed HTTP response.
public enum BotHTTPPart: Sendable, Hashable {
    /// Status and headers, once and first.
    case head(BotHTTPHead)
    /// Some bytes of the body; a part ends anywhere.
    case body([UInt8])
}

/// Status and headers of an HTTP response.
public struct BotHTTPHead: Sendable, Hashable {
    /// The status code, such as 200.
    public var status: Int
    /// The values of each header by its name in lower case.
    public var headers: [String: [String]]

    /// Creates a head, for tests.
    public init(status: Int, headers: [String: [String]] = [:]) {
        self.status = status
        self.headers = headers
    }
}

/// An HTTP request of a bot.
public struct BotHTTPRequest: Sendable, Hashable {
    /// The method in upper case, such as `POST`.
    public var method: String
    /// An `http://` or `https://` URL with a host and without a user name.
    public var url: String
    /// The headers in order; a name may occur several times.
    public var headers: [(name: String, value: String)]
    /// The body; empty for none.
    public var body: [UInt8]
    /// The deadline from the start to the last byte of the response.
    public var timeout: Duration
    /// The limit of the response's body in bytes; a longer one is an error.
    public var maximumBytes: Int
    /// The longest time without a byte of the response; nil for no limit but the deadline.
    public var maximumSilence: Duration?
    /// Whether the host may be this machine or in a private network. Set it only if an operator has named the host,
    /// since the request could otherwise reach services that trust this machine.
    public var reachesPrivateAddresses: Bool

    /// Creates a request. By default it is a POST with a deadline of ten seconds and a limit of 1 MiB.
    public init(
        method: String = "POST", url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(10), maximumBytes: Int = 1 << 20, maximumSilence: Duration? = nil,
        reachesPrivateAddresses: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maximumBytes = maximumBytes
        self.maximumSilence = maximumSilence
        self.reachesPrivateAddresses = reachesPrivateAddresses
    }

    /// Compares all fields.
    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.body == right.body
            && left.timeout == right.timeout && left.maximumBytes == right.maximumBytes
            && left.maximumSilence == right.maximumSilence
            && left.reachesPrivateAddresses == right.reachesPrivateAddresses
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }

    /// Hashes method, URL and body.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(url)
        hasher.combine(body)
    }
}

/// A complete HTTP response.
public struct BotHTTPResponse: Sendable, Hashable {
    /// The status code, such as 200.
    public var status: Int
    /// The whole body.
    public var body: [UInt8]
    /// The delay of a `Retry-After` header, if it is given in seconds.
    public var retryAfter: Duration?
    /// The values of each header by its name in lower case.
    public var headers: [String: [String]]

    /// Creates a response, for tests.
    public init(
        status: Int, body: [UInt8], retryAfter: Duration? = nil, headers: [String: [String]] = [:]
    ) {
        self.headers = headers
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}
