/// What a bot may use of the world outside its chats. The runtime gives it; in tests, the test does.
public struct BotServices: Sendable {
    public var http: any BotHTTP
    public var programs: any BotPrograms
    public var secrets: any BotSecrets
    public var files: any BotFiles
    public var chats: any BotChats
    public var metrics: any BotMetrics
    public var relayProbes: any BotRelayProbes
    public var keyPackageProbes: any BotKeyPackageProbes
    /// For pauses and deadlines inside a handler.
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
    /// Sends a request and reads the whole answer. Redirects are answers, and are not followed.
    /// Throws ``BotError/Code/requestFailed``.
    func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse
}

public struct BotHTTPRequest: Sendable, Hashable {
    public var method: String
    /// `http://` or `https://`.
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// From the start to the last byte of the answer.
    public var timeout: Duration
    /// A longer answer is an error.
    public var maximumBytes: Int
    /// Whether the host may be this machine or in a network around it: only where an operator has named it as such,
    /// since the request could otherwise be led to what trusts this machine.
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
    /// What a `Retry-After` header asks to wait for, if it is written in seconds.
    public var retryAfter: Duration?

    public init(status: Int, body: [UInt8], retryAfter: Duration? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }
}

/// Programs that bots run.
public protocol BotPrograms: Sendable {
    /// Runs a program to its end. It and its children are killed at the timeout, and when the task is cancelled.
    /// Throws ``BotError/Code/programFailed``, also for an exit status other than 0.
    func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8]
}

public struct BotProgramRun: Sendable, Hashable {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// Its whole environment, besides `PATH`.
    public var environment: [String: String]
    public var input: [UInt8]
    public var timeout: Duration
    /// A longer output is an error.
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
    /// Reads what `{ file: PATH }`, `{ env: NAME }`, `{ credential: NAME }` or `{ command: […] }` names: one line of text.
    /// Throws ``BotError/Code/noSecret``.
    func read(_ reference: BotSettings) async throws(BotError) -> String
}

/// Nothing of the world outside.
public struct NoBotServices: BotHTTP, BotPrograms, BotSecrets {
    public init() {}

    public func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        throw BotError(.requestFailed, "there is no network here")
    }

    public func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] {
        throw BotError(.programFailed, "no programs can be run here")
    }

    public func read(_ reference: BotSettings) async throws(BotError) -> String {
        throw BotError(.noSecret, "no secrets are kept here")
    }
}
