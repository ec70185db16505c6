/// Services outside the chats. The runtime provides them; tests provide their own.
///
/// ```swift
/// let response = try await context.services.http.send(BotHTTPRequest(method: "GET", url: "https://api.example/menu"))
/// context.reply(String(decoding: response.body, as: UTF8.self))
/// ```
///
/// Their effects are not part of the handler's transaction: a handler that runs again requests them again.
public struct BotServices: Sendable {
    /// Sends HTTP requests.
    public var http: any BotHTTP
    /// Runs programs of this machine.
    public var programs: any BotPrograms
    /// Reads secrets that settings refer to.
    public var secrets: any BotSecrets
    /// Reads files that settings name.
    public var files: any BotFiles
    /// Reads recent messages, and shows typing indicators while a handler runs.
    public var chats: any BotChats
    /// Exports metrics of the bot.
    public var metrics: any BotMetrics
    /// Opens WebSocket connections.
    public var connections: any BotConnections
    /// Adds items to the bot's own feeds.
    public var inbox: any BotInbox
    /// Answers and makes calls.
    public var calls: any BotCalls = NoBotServices()
    /// Opens the bots' database files.
    package var databases: any BotDatabases
    /// Durable, sealed records, on which vault, token pipelines and outboxes are built.
    package var records: any SealedRecords
    /// Objects that live as long as the runtime, shared by all handlers.
    package var resources: BotResources
    /// The bot that the services belong to; empty outside a handler.
    package var bot = ""
    /// The clock for delays and deadlines inside a handler.
    public var clock: any CoreClock
    /// Services that only bots of this package use, by key.
    private var others: [ObjectIdentifier: any Sendable] = [:]

    /// Creates services; by default each does nothing or fails (``NoBotServices``).
    public init(
        http: any BotHTTP = NoBotServices(), programs: any BotPrograms = NoBotServices(),
        secrets: any BotSecrets = NoBotServices(), files: any BotFiles = NoBotServices(),
        chats: any BotChats = NoBotServices(), metrics: any BotMetrics = NoBotServices(),
        connections: any BotConnections = NoBotServices(), clock: any CoreClock = SystemClock()
    ) {
        self.connections = connections
        inbox = NoBotServices()
        databases = NoBotServices()
        records = NoBotServices()
        resources = BotResources()
        self.http = http
        self.programs = programs
        self.secrets = secrets
        self.files = files
        self.chats = chats
        self.metrics = metrics
        self.clock = clock
    }

    /// A service that only bots of this package use; another module declares it and its key.
    package subscript<Key: BotServiceKey>(key: Key.Type) -> Key.Service {
        get { others[ObjectIdentifier(key)] as? Key.Service ?? Key.missing }
        set { others[ObjectIdentifier(key)] = newValue }
    }
}

/// Names a service in ``BotServices``.
package protocol BotServiceKey {
    /// The service's protocol, as an existential type.
    associatedtype Service: Sendable
    /// The implementation to use if the service was not set.
    static var missing: Service { get }
}

/// Programs that bots run.
public protocol BotPrograms: Sendable {
    /// Runs a program and returns its standard output. The program and its children are killed at the timeout, and when
    /// the task is cancelled. Throws `BotError.Code.programFailed`, including for an exit status other than 0.
    func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8]

    /// Runs a program and talks to it by lines: `lines` become its standard input, and `receive` gets each line of its
    /// standard output before the next one is read. The input is closed at the end of `lines`.
    ///
    /// Returns when the program has exited with status 0. It and its children are killed at the timeout, when the task is
    /// cancelled, and two seconds after the end of `lines`. `input` of the program is not used, and `maximumBytes` limits
    /// a line; longer ones are dropped. Throws `BotError.Code.programFailed`.
    func converse(
        with program: BotProgramRun, lines: AsyncStream<String>,
        receive: @escaping @Sendable (_ line: String) async -> Void
    ) async throws(BotError)
}

extension BotPrograms {
    /// Throws `BotError.Code.programFailed`, for services without conversations.
    public func converse(
        with program: BotProgramRun, lines: AsyncStream<String>,
        receive: @escaping @Sendable (_ line: String) async -> Void
    ) async throws(BotError) {
        throw BotError(.programFailed, "conversations with programs are not available here")
    }
}

/// A program to run, with its input and its limits.
public struct BotProgramRun: Sendable, Hashable {
    /// The program, looked up in `PATH` unless it has a slash, and its arguments.
    public var command: [String]
    /// The whole environment, besides `PATH`; nothing is inherited.
    public var environment: [String: String]
    /// The standard input; the program does not have to read it.
    public var input: [UInt8]
    /// The deadline of the whole run.
    public var timeout: Duration
    /// The limit of the standard output in bytes; a longer one is an error.
    public var maximumBytes: Int

    /// Creates a run. By default it has a deadline of ten seconds and a limit of 1 MiB.
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
    /// one line of text. Throws `BotError.Code.noSecret`.
    func read(_ reference: BotSettings) async throws(BotError) -> String
}

/// Services that do nothing or fail: the defaults of ``BotServices``.
public struct NoBotServices: BotHTTP, BotPrograms, BotSecrets {
    /// Creates the services.
    public init() {}

    /// Throws `BotError.Code.requestFailed`.
    public func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        throw BotError(.requestFailed, "HTTP requests are not available here")
    }

    /// Throws `BotError.Code.programFailed`.
    public func run(_ program: BotProgramRun) async throws(BotError) -> [UInt8] {
        throw BotError(.programFailed, "programs are not available here")
    }

    /// Throws `BotError.Code.noSecret`.
    public func read(_ reference: BotSettings) async throws(BotError) -> String {
        throw BotError(.noSecret, "secrets are not available here")
    }
}
