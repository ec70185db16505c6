import Logging
import Nostr
import PikaCore
import ProcessSupport
import Synchronization

@testable import BotTesting
@testable import Daemon

/// A daemon that serves one program, among the members of a lab; the test plays the program.
final class ProgramLab: Sendable {
    /// One run of the program.
    final class Program: Sendable {
        let client: DaemonClient
        let heard = Mutex<[JSONValue]>([])

        init(limit: Int) {
            client = DaemonClient(.program, limit: limit)
        }

        /// All lines that it was sent, in order.
        var lines: [JSONValue] { heard.withLock { $0 } }
        var types: [String] { lines.compactMap { $0["type"]?.string } }
        var contents: [String] { lines.compactMap { $0["content"]?.string } }
        var cursors: [Int64] { lines.compactMap { $0["cursor"]?.integer } }
    }

    let lab: GroupLab
    private let engines = Mutex<DaemonEngine?>(nil)
    private let member = Mutex<LabMember?>(nil)
    private let requests = Mutex(0)

    private init(_ lab: GroupLab) {
        self.lab = lab
    }

    /// Returns a program's daemon, and Bob, who has created a group with it.
    static func make(
        seed: UInt64, keptEvents: Int64 = 1000, rules: ProgramRules? = nil
    ) async throws -> (ProgramLab, bob: LabMember, chat: ChatID) {
        let lab = try GroupLab(seed: seed)
        let world = ProgramLab(lab)
        let configuration = CoreConfiguration(relays: lab.relays, invites: .anyone, selfUpdate: .never)
        var settings = DaemonSettings(core: configuration, relayPatience: nil, keptEvents: keptEvents)
        settings.scope = "program/test"
        settings.waitsForRelays = false
        settings.program = rules ?? ProgramRules(name: "test") { _, _ in }
        let final = settings
        let member = try await lab.member("program", configuration: configuration) { core in
            await world.live(core, final)
        }
        world.member.withLock { $0 = member }
        let bob = try await lab.member("bob")
        return (world, bob, try await bob.create("work", inviting: [member]))
    }

    private func live(_ core: AppCore, _ settings: DaemonSettings) async {
        let engine = DaemonEngine(
            core: core, settings: settings, standard: DaemonClient(.standard), clock: lab.clock,
            logger: lab.log.logger("program"))
        engines.withLock { $0 = engine }
        try? await engine.run()
    }

    var account: LabMember {
        guard let member = member.withLock({ $0 }) else { preconditionFailure("the lab must be created first") }
        return member
    }

    var engine: DaemonEngine {
        guard let engine = engines.withLock({ $0 }) else { preconditionFailure("the daemon must be started first") }
        return engine
    }

    // MARK: The program

    func start(limit: Int = 1 << 20, reads: Bool = true) async throws -> Program {
        let program = Program(limit: limit)
        let engine = engine
        Task(executorPreference: lab.executor) {
            await engine.begin(program.client)
            await engine.serve(program.client)
        }
        if reads {
            Task(executorPreference: lab.executor) {
                while let batch = await program.client.lines.next() {
                    program.heard.withLock { $0 += batch.compactMap { try? JSONValue(json: $0) } }
                }
            }
        }
        try await lab.settle()
        return program
    }

    func say(_ line: String, _ program: Program) async throws {
        let engine = engine
        Task(executorPreference: lab.executor) { await engine.receive(.line(Array(line.utf8)), from: program.client) }
        try await lab.settle()
    }

    /// Sends a command; returns its reply, or nil if there is none.
    @discardableResult
    func command(_ name: String, _ fields: JSONObject = [:], _ program: Program) async throws -> JSONValue? {
        let id = requests.withLock { count in
            count += 1
            return "r\(count)"
        }
        try await say(DaemonLab.line(name, id, fields), program)
        return program.lines.last { $0["request_id"]?.string == id }
    }

    @discardableResult
    func hello(acks: Bool = true, _ program: Program) async throws -> JSONValue? {
        try await command("hello", ["protocol": 2, "acks": .bool(acks)], program)
    }

    func finish(_ program: Program, because failure: ProgramFailure?) async throws -> ProgramReport {
        let engine = engine
        return try await lab.run { await engine.finish(program.client, because: failure) }
    }
}
