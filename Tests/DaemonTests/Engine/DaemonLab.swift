import Logging
import Nostr
import PikaCore
import ProcessSupport
import Synchronization

@testable import BotTesting
@testable import Daemon

/// A daemon among the members of a lab; the test plays the standard client.
final class DaemonLab: Sendable {
    struct Life: Sendable {
        let engine: DaemonEngine
        let client: DaemonClient
    }

    private struct State {
        var life: Life?
        var lines: [JSONValue] = []
        var requests = 0
    }

    let lab: GroupLab
    private let state = Mutex(State())
    private let member = Mutex<LabMember?>(nil)

    private init(_ lab: GroupLab) {
        self.lab = lab
    }

    static func make(
        seed: UInt64, allowed: Set<PublicKey> = [], acceptsWelcomes: Bool = false, requiresToken: Bool = false,
        tokens: [DaemonToken] = [], keptEvents: Int64 = 1000, mediaDirectory: String? = nil,
        accounts: (any DaemonAccounts)? = nil, lab: GroupLab? = nil
    ) async throws -> DaemonLab {
        let lab = try lab ?? GroupLab(seed: seed)
        let world = DaemonLab(lab)
        let configuration = CoreConfiguration(
            relays: lab.relays, invites: .nobody, selfUpdate: .never, mediaServers: lab.mediaServers,
            calls: .daemon, groupProtocol: lab.groupProtocol)
        var settings = DaemonSettings(
            core: configuration, allowed: allowed, acceptsWelcomes: acceptsWelcomes, requiresToken: requiresToken,
            tokens: { tokens }, mediaDirectory: mediaDirectory, keptEvents: keptEvents)
        settings.accounts = accounts
        let member = try await lab.member("daemon", configuration: configuration) { [settings] core in
            await world.live(core, settings)
        }
        world.member.withLock { $0 = member }
        return world
    }

    private func live(_ core: AppCore, _ settings: DaemonSettings) async {
        let client = DaemonClient(.standard)
        var logger = Logger(label: "daemon")
        logger.logLevel = .critical
        let engine = DaemonEngine(
            core: core, settings: settings, standard: client, clock: self.lab.clock, logger: logger)
        self.state.withLock { $0.life = Life(engine: engine, client: client) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await engine.run() }
            group.addTask {
                while let lines = await client.lines.next() { self.append(lines) }
            }
        }
    }

    private func append(_ lines: [String]) {
        let values = lines.compactMap { try? JSONValue(json: $0) }
        precondition(values.count == lines.count, "a line is not JSON")
        self.state.withLock { $0.lines += values }
    }

    var account: LabMember {
        guard let member = self.member.withLock({ $0 }) else { preconditionFailure("create the lab first") }
        return member
    }

    var engine: DaemonEngine {
        guard let life = self.state.withLock({ $0.life }) else { preconditionFailure("start the daemon first") }
        return life.engine
    }

    var standard: DaemonClient {
        guard let life = self.state.withLock({ $0.life }) else { preconditionFailure("start the daemon first") }
        return life.client
    }

    /// All lines of standard output.
    var lines: [JSONValue] { self.state.withLock { $0.lines } }

    func events(_ type: String) -> [JSONValue] { self.lines.filter { $0["type"]?.string == type } }

    func types(from first: Int = 0) -> [String] { self.lines.dropFirst(first).compactMap { $0["type"]?.string } }

    // MARK: Commands

    /// Sends a line and settles the lab; the daemon may crash meanwhile.
    func say(_ line: String, from client: DaemonClient? = nil) async throws {
        let engine = self.engine
        let client = client ?? self.standard
        Task(executorPreference: self.lab.executor) { await engine.receive(.line(Array(line.utf8)), from: client) }
        try await self.lab.settle()
    }

    /// Sends a command on standard input; returns its reply, or nil if there is none.
    func command(_ name: String, _ fields: JSONObject = [:]) async throws -> JSONValue? {
        let id = self.state.withLock { state in
            state.requests += 1
            return "r\(state.requests)"
        }
        try await self.say(Self.line(name, id, fields))
        return self.lines.last { $0["request_id"]?.string == id }
    }

    func result(_ name: String, _ fields: JSONObject = [:]) async throws -> JSONValue {
        let reply = try await self.command(name, fields)
        guard reply?["type"]?.string == "ok" else {
            throw LabError(.unmet, "\(name): \(reply?.jsonText ?? "no reply")")
        }
        return reply?["result"] ?? .null
    }

    /// Sends a command; returns the code of its error, or nil for success.
    func failure(_ name: String, _ fields: JSONObject = [:]) async throws -> String? {
        try await self.command(name, fields)?["code"]?.string
    }

    static func line(_ name: String, _ id: String, _ fields: JSONObject) -> String {
        var object: JSONObject = ["cmd": .string(name), "request_id": .string(id)]
        for member in fields.members { object[member.name] = member.value }
        return JSONValue.object(object).jsonText
    }

    // MARK: Clients of the socket

    func connect(limit: Int = 1 << 20) async throws -> DaemonClient {
        let client = DaemonClient(.socket, limit: limit)
        await self.engine.attach(client)
        return client
    }

    /// Reads the lines queued for a client.
    func read(_ client: DaemonClient) async throws -> [JSONValue] {
        guard !client.lines.isDone else { return [] }
        let isEmpty = Mutex(true)
        let lines = Mutex<[String]>([])
        let task = Task(executorPreference: self.lab.executor) {
            let batch = await client.lines.next()
            isEmpty.withLock { $0 = false }
            lines.withLock { $0 = batch ?? [] }
        }
        try await self.lab.settle()
        if isEmpty.withLock({ $0 }) {
            // No line is queued: a marker line ends the read.
            _ = client.lines.offer("null", farewell: "null")
            try await self.lab.settle()
        }
        await task.value
        return lines.withLock { $0 }.compactMap { try? JSONValue(json: $0) }.filter { $0 != .null }
    }

    func reply(_ client: DaemonClient, _ name: String, _ fields: JSONObject = [:]) async throws -> [JSONValue] {
        try await self.say(Self.line(name, "s", fields), from: client)
        return try await self.read(client)
    }
}

extension JSONValue {
    /// The id, or nostrGroupID, of a chat; nil for a value that is not a string.
    var chatID: ChatID? { self.string.map(ChatID.init(rawValue:)) }
}
