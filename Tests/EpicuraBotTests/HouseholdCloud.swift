import Appliance
import BotKit
import BotTesting
import EpicuraSimulator
import Synchronization

/// The simulator's cloud behind the bots' HTTP, without sockets.
final class HouseholdCloud: BotHTTP {
    enum CommandFault: Sendable {
        case none
        /// Commands do not arrive.
        case lost
        /// Commands are executed, and their answers do not arrive.
        case lostAnswer
    }

    private struct Content {
        var cloud = SimulatedCloud()
        var generator: SeededGenerator
        var isDown = false
        var commandFault = CommandFault.none
        var requests: [String] = []
    }

    private let content: Mutex<Content>
    private let clock: any CoreClock

    init(clock: any CoreClock, generator: SeededGenerator) {
        self.clock = clock
        content = Mutex(Content(generator: generator))
        content.withLock { $0.cloud.localAddress = "192.168.1.5:80" }
    }

    /// The state at the moment.
    var cloud: SimulatedCloud { content.withLock { $0.cloud } }
    /// Method and path of each request, in order.
    var requests: [String] { content.withLock { $0.requests } }
    func count(_ request: String) -> Int { requests.count { $0 == request } }

    /// Answers nothing at all, in the local network too.
    var isDown: Bool {
        get { content.withLock { $0.isDown } }
        set { content.withLock { $0.isDown = newValue } }
    }

    var commandFault: CommandFault {
        get { content.withLock { $0.commandFault } }
        set { content.withLock { $0.commandFault = newValue } }
    }

    func set(_ change: (inout SimulatedFaults) -> Void) throws {
        var faults = SimulatedFaults()
        change(&faults)
        _ = handle(SimulatedRequest("POST", "/simulator/faults", body: try APICoding.encode(faults)))
    }

    /// A request beside the bot.
    func handle(_ request: SimulatedRequest) -> SimulatedResponse {
        let now = UnixTime(milliseconds: clock.nowMilliseconds)
        return content.withLock { content in
            var generator: any RandomNumberGenerator = content.generator
            let response = content.cloud.handle(request, now: now, using: &generator)
            if let used = generator as? SeededGenerator { content.generator = used }
            return response
        }
    }

    /// The code that was sent last.
    func code() throws -> String {
        let body = handle(SimulatedRequest("GET", "/simulator/codes")).body
        return try APICoding.decode(SimulatedCodes.self, from: body).items.last?.code ?? ""
    }

    /// The claim token of an appliance that has joined the Wi-Fi.
    func claimToken(_ serial: String) throws -> String {
        let body = try APICoding.encode(SimulatedPairing(serial: serial))
        let answer = handle(SimulatedRequest("POST", "/simulator/appliances", body: body)).body
        return try APICoding.decode(SimulatedPairing.self, from: answer).claimToken ?? ""
    }

    /// Lets the appliances cook, and returns the events as messages of the stream.
    func cook(seconds: Int64) throws -> [BotConnectionMessage] {
        let now = UnixTime(milliseconds: clock.nowMilliseconds)
        let events = content.withLock { content in
            content.cloud.advance(milliseconds: seconds * 1_000, now: now)
            return content.cloud.drain().events
        }
        return try events.map { .text(String(decoding: try APICoding.encode($0), as: UTF8.self)) }
    }

    // MARK: BotHTTP

    func send(_ request: BotHTTPRequest) async throws(BotError) -> BotHTTPResponse {
        let response = try answer(request)
        guard case .bytes(let bytes, _) = response.content else {
            throw BotError(.requestFailed, "closed without an answer")
        }
        return BotHTTPResponse(status: response.status, body: bytes)
    }

    func stream(
        _ request: BotHTTPRequest, to receive: @escaping @Sendable (BotHTTPPart) async throws -> Void
    ) async throws(BotError) {
        let response = try answer(request)
        do {
            guard response.content == .pictures else {
                try await receive(.head(BotHTTPHead(status: response.status)))
                return
            }
            let type = "multipart/x-mixed-replace; boundary=picture"
            try await receive(.head(BotHTTPHead(status: 200, headers: ["content-type": [type]])))
            for number in 1...3 {
                let head = "--picture\r\nContent-Type: image/jpeg\r\n\r\n"
                let part = Array(head.utf8) + SamplePicture.jpeg(number: number) + Array("\r\n".utf8)
                // Split inside the picture.
                try await receive(.body(Array(part.prefix(50))))
                try await receive(.body(Array(part.dropFirst(50))))
            }
        } catch {
            throw BotError(.requestFailed, "the response was not accepted")
        }
    }

    private func answer(_ request: BotHTTPRequest) throws(BotError) -> SimulatedResponse {
        func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }
        guard let scheme = request.url.firstRange(of: "://"),
            let start = request.url[scheme.upperBound...].firstIndex(of: "/")
        else { throw BotError(.requestFailed, "expected a path") }
        let target = String(request.url[start...])
        content.withLock { $0.requests.append("\(request.method) \(target.prefix { $0 != "?" })") }
        let isLocal = target.hasPrefix("/lan/") || target.hasPrefix("/camera/")
        guard !isDown, !(isLocal && cloud.faults.localOffline == true) else {
            throw BotError(.requestFailed, "unreachable")
        }
        let fault = target.hasSuffix("/commands") ? commandFault : .none
        if fault == .lost { throw BotError(.requestFailed, "unreachable") }
        let response = handle(
            SimulatedRequest(
                request.method, target, authorization: header("Authorization"),
                idempotencyKey: header("Idempotency-Key"), ifMatch: header("If-Match"), body: request.body))
        if fault == .lostAnswer { throw BotError(.requestFailed, "the answer is lost") }
        return response
    }
}
