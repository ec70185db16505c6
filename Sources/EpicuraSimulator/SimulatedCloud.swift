package import Appliance
package import Nostr

/// The cloud and the appliances of one household, as a value: requests, time and randomness in, answers and events out.
package struct SimulatedCloud: Sendable {
    struct Challenge {
        let id: String
        let address: String
        let code: String
        let expiresAt: UnixTime
        var attempts = 0
    }

    struct Session {
        var accessToken: String
        var accessExpiresAt: UnixTime
        var refreshToken: String
        var usedRefreshTokens: Set<String> = []
    }

    package struct Settings: Sendable {
        /// Seconds during which an access token is valid.
        package var accessTokenLifetime = 900
        /// Seconds during which a one-time code is valid.
        package var codeLifetime = 300
        /// Seconds of cooking in one second of the clock.
        package var speed = 1

        package init() {}
    }

    static let maximumEvents = 1_000
    static let maximumLog = 10_000
    static let maximumSessions = 100
    static let maximumChallenges = 100
    static let maximumAppliances = 32
    static let maximumHistory = 10_000
    static let maximumAttempts = 5

    let settings: Settings
    let recipes = SampleRecipes.all
    var challenges: [Challenge] = []
    var sessions: [Session] = []
    package internal(set) var appliances: [SimulatedAppliance] = []
    /// Appliances that wait for a claim, by its token.
    var unclaimed: [String: SimulatedAppliance] = [:]
    /// Claimed appliances by the token of their claim, for repeated claims.
    var claimed: [String: String] = [:]
    package internal(set) var preferences = Preferences(version: 0)
    /// In order of their arrival.
    package internal(set) var history: [HistoryRecord] = []
    package internal(set) var faults = SimulatedFaults()
    var log: [SimulatedLogEntry] = []
    var requestCount = 0
    /// `HOST:PORT` of all appliances in the local network, as the shell reports it.
    package var localAddress: String?
    /// Open WebSockets, as the shell reports them.
    package var socketCount = 0
    private(set) var sequence = 0
    private var events: [LiveEvent] = []
    private var outgoing: [LiveEvent] = []
    private var mustDropSockets = false

    package init(settings: Settings = Settings()) { self.settings = settings }

    // MARK: Time and events

    /// Lets the appliances cook for a duration of the clock.
    package mutating func advance(milliseconds: Int64, now: UnixTime) {
        let cooking = milliseconds.clampedMultiplied(by: Int64(max(1, self.settings.speed)))
        for index in self.appliances.indices {
            let bodies = self.appliances[index].advance(milliseconds: cooking, now: now)
            self.emit(bodies, of: self.appliances[index].id, now)
        }
    }

    /// Adds events to the stream. Of an appliance that is offline, none arrive.
    ///
    /// - Parameter byCloud: whether the cloud itself reports the events, such as the loss of a connection.
    mutating func emit(
        _ bodies: [LiveEvent.Body], of appliance: String?, _ now: UnixTime, byCloud: Bool = false
    ) {
        guard byCloud || appliance == nil || self.faults.applianceOffline != true else { return }
        for body in bodies {
            self.sequence += 1
            let event = LiveEvent(sequence: self.sequence, at: now, applianceID: appliance, body: body)
            self.events.append(event)
            self.outgoing.append(event)
        }
        if self.events.count > Self.maximumEvents { self.events.removeFirst(self.events.count - Self.maximumEvents) }
        if self.outgoing.count > Self.maximumEvents {
            self.outgoing.removeFirst(self.outgoing.count - Self.maximumEvents)
        }
    }

    mutating func dropSockets() { self.mustDropSockets = true }

    /// Removes and returns what the open WebSockets get, and whether to close them.
    package mutating func drain() -> (events: [LiveEvent], dropsSockets: Bool) {
        defer {
            self.outgoing = []
            self.mustDropSockets = false
        }
        return (self.outgoing, self.mustDropSockets)
    }

    /// The first events of a WebSocket that has seen the stream up to an event.
    package func resume(after sequence: Int, now: UnixTime) -> [LiveEvent] {
        let oldest = self.events.first?.sequence ?? self.sequence + 1
        guard sequence > 0, sequence <= self.sequence, sequence + 1 >= oldest else {
            return [LiveEvent(sequence: self.sequence, at: now, body: .hello(isResumed: false))]
        }
        let hello = LiveEvent(sequence: sequence, at: now, body: .hello(isResumed: true))
        return [hello] + self.events.filter { $0.sequence > sequence }
    }

    /// Judges the upgrade to a WebSocket; nil accepts it.
    package mutating func refusal(ofSocket request: SimulatedRequest, now: UnixTime) -> SimulatedResponse? {
        if self.faults.refuseSockets == true {
            let refusal = Refusal(503, "unavailable", "the stream is not available")
            return self.record(request, refusal.response)
        }
        do throws(Refusal) {
            _ = try self.authorize(request, now)
            _ = self.record(request, SimulatedResponse(status: 101, content: .nothing))
            return nil
        } catch {
            return self.record(request, error.response)
        }
    }

    mutating func record(_ request: SimulatedRequest, _ response: SimulatedResponse) -> SimulatedResponse {
        self.requestCount += 1
        self.log.append(
            SimulatedLogEntry(
                number: self.requestCount, method: request.method, path: request.path, status: response.status,
                idempotencyKey: request.idempotencyKey))
        if self.log.count > Self.maximumLog { self.log.removeFirst() }
        return response
    }

    // MARK: Authorization

    /// Returns the index of the session of a request's access token.
    mutating func authorize(_ request: SimulatedRequest, _ now: UnixTime) throws(Refusal) -> Int {
        guard !self.faults.consume(\.unauthorized) else {
            throw Refusal(401, APIProblem.Known.tokenExpired, "the access token has expired")
        }
        guard let header = request.authorization, header.hasPrefix("Bearer ") else {
            throw Refusal(401, "unauthorized", "expected the header Authorization: Bearer TOKEN")
        }
        let token = header.dropFirst("Bearer ".count)
        guard let index = self.sessions.firstIndex(where: { $0.accessToken == token }) else {
            throw Refusal(401, APIProblem.Known.tokenExpired, "the access token is not valid")
        }
        guard now < self.sessions[index].accessExpiresAt else {
            throw Refusal(401, APIProblem.Known.tokenExpired, "the access token has expired")
        }
        return index
    }

    /// Returns the index of the appliance of a local key.
    func authorizeLocally(_ request: SimulatedRequest) throws(Refusal) -> Int {
        guard self.faults.localOffline != true else { throw Refusal(0, "offline", "not reachable") }
        guard let header = request.authorization, header.hasPrefix("Local ") else {
            throw Refusal(401, "unauthorized", "expected the header Authorization: Local KEY")
        }
        let key = header.dropFirst("Local ".count)
        guard let index = self.appliances.firstIndex(where: { $0.localKey == key }) else {
            throw Refusal(401, "unauthorized", "unknown local key")
        }
        return index
    }

    func index(ofAppliance id: String) throws(Refusal) -> Int {
        guard let index = self.appliances.firstIndex(where: { $0.id == id }) else {
            throw Refusal(404, "not_found", "unknown appliance")
        }
        return index
    }

    func record(of appliance: SimulatedAppliance) -> ApplianceRecord {
        ApplianceRecord(
            id: appliance.id, name: appliance.name, model: "Simulator", firmware: "1.0",
            isOnline: self.faults.applianceOffline != true, state: appliance.state, localAddress: self.localAddress)
    }

    /// 128 random bits.
    static func token(_ prefix: String, _ generator: inout any RandomNumberGenerator) -> String {
        let numbers: [UInt64] = [generator.next(), generator.next()]
        let digits = numbers.map { number in
            let text = String(number, radix: 16)
            return String(repeating: "0", count: 16 - text.count) + text
        }
        return prefix + "-" + digits.joined()
    }
}

/// A request that is answered with an error.
struct Refusal: Error {
    /// 0 closes the connection without an answer.
    let status: Int
    let code: String
    let message: String
    var retryAfter: Int?

    init(_ status: Int, _ code: String, _ message: String, retryAfter: Int? = nil) {
        self.status = status
        self.code = code
        self.message = message
        self.retryAfter = retryAfter
    }

    var response: SimulatedResponse {
        guard self.status != 0 else { return SimulatedResponse(status: 0, content: .nothing) }
        let problem = APIProblem(code: self.code, message: self.message, retryAfter: self.retryAfter)
        let body = (try? APICoding.encode(problem)) ?? []
        return SimulatedResponse(status: self.status, content: .bytes(body, type: "application/json"))
    }
}
