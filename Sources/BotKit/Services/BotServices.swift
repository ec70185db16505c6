/// Services outside the chats. The runtime provides them; in tests, the test does.
public struct BotServices: Sendable {
    public var http: any BotHTTP
    public var programs: any BotPrograms
    public var secrets: any BotSecrets
    public var files: any BotFiles
    public var chats: any BotChats
    public var metrics: any BotMetrics
    public var relayProbes: any BotRelayProbes
    public var keyPackageProbes: any BotKeyPackageProbes
    /// The clock for delays and deadlines inside a handler.
    public var clock: any CoreClock

    public init(
        http: any BotHTTP = NoBotServices(), programs: any BotPrograms = NoBotServices(),
        secrets: any BotSecrets = NoBotServices(), files: any BotFiles = NoBotServices(),
        chats: any BotChats = NoBotServices(), metrics: any BotMetrics = NoBotServices(),
        relayProbes: any BotRelayProbes = NoBotServices(), keyPackageProbes: any BotKeyPackageProbes = NoBotServices(),
        clock: any CoreClock = SystemClock()
    ) {
        self.http = http
        self.programs = programs
        self.secrets = secrets
        self.files = files
        self.chats = chats
        self.metrics = metrics
        self.relayProbes = relayProbes
        self.keyPackageProbes = keyPackageProbes
        self.clock = clock
    }
}

/// HTTP requests of bots.
public protocol BotHTTP: Sendable {
    /// Sends a request and reads the whole response. Redirects are returned, not followed.
    /// Throws ``BotError/Code/requestFailed``.
    func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse
}

public struct BotHTTPRequest: Sendable, Hashable {
    public var method: String
    /// `http://` or `https://`.
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// The deadline from the start to the last byte of the response.
    public var timeout: Duration
    /// The limit of the response; a longer one is an error.
    public var maximumBytes: Int
    /// Whether the host may be this machine or in a private network. Set it only if an operator has named the host,
    /// since the request could otherwise reach services that trust this machine.
    public var reachesPrivateAddresses: Bool

    public init(
        method: String = "POST", url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [],
        timeout: Duration = .seconds(10), maximumBytes: Int = 1 << 20, reachesPrivateAddresses: Bool = false
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.timeout = timeout
        self.maximumBytes = maximumBytes
        self.reachesPrivateAddresses = reachesPrivateAddresses
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.body == right.body
            && left.timeout == right.timeout && left.maximumBytes == right.maximumBytes
            && left.reachesPrivateAddresses == right.reachesPrivateAddresses
            && left.headers.elementsEqual(right.headers) { $0 == $1 }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(method)
        hasher.combine(url)
        hasher.combine(body)
    }
}

public struct BotHTTPResponse: Sendable, Hashable {
    public var status: Int
    public var body: [UInt8]
    /// The delay of a `Retry-After` header, if it is given in seconds.
    public var retryAfter: Duration?

    public init(status: Int, body: [UInt8], retryAfter: Duration? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Programs that bots run.
public protocol BotPrograms: Sendable {
    /// Runs a program until it exits. It and its children are killed at the timeout, and when the task is cancelled.
    /// Throws ``BotError/Code/programFailed``, also for an exit status other than 0.
    func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8]
}

public struct BotProgramRun: Sendable, Hashable {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// The whole environment, except `PATH`.
    public var environment: [String: String]
    public var input: [UInt8]
    public var timeout: Duration
    /// The limit of the output; a longer one is an error.
    public var maximumBytes: Int

    public init(
        command: [String], environment: [String: String] = [:], input: [UInt8] = [],
        timeout: Duration = .seconds(10), maximumBytes: Int = 1 << 20
    ) {
        self.command = command
        self.environment = environment
        self.input = input
        self.timeout = timeout
        self.maximumBytes = maximumBytes
    }
}

/// Secrets that settings name by reference.
public protocol BotSecrets: Sendable {
    /// Reads the secret that `{ file: PATH }`, `{ env: NAME }`, `{ credential: NAME }` or `{ command: […] }` refers to:
    /// one line of text.
    /// Throws ``BotError/Code/noSecret``.
    func read(_ reference: BotSettings) async throws(BotError) -> String
}

/// Services that do nothing or fail.
public struct NoBotServices: BotHTTP, BotPrograms, BotSecrets {
    public init() {}

    public func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        throw BotError(.requestFailed, "HTTP requests are not available here")
    }

    public func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] {
        throw BotError(.programFailed, "programs are not available here")
    }

    public func read(_ reference: BotSettings) async throws(BotError) -> String {
        throw BotError(.noSecret, "secrets are not available here")
    }
}
