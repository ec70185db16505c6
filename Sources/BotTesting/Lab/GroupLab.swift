public import BotDispatch
public import BotKit
import Synchronization

/// A harness for whole encrypted groups in one process: every member is a real core with real MLS, over in-memory
/// relays.
///
/// Members work only while ``settle()`` or ``advance(by:)`` runs, on one thread, until each of them waits. So a test
/// never sleeps, and the same seed repeats the same run.
///
/// ```swift
/// let lab = try GroupLab(seed: 1)
/// let alice = try await lab.member("alice")
/// let bob = try await lab.member("bob")
/// let chat = try await alice.create("friends", inviting: [bob])
/// try await alice.say("hi", in: chat)
/// #expect(bob.heard(in: chat) == ["hi"])
/// ```
public final class GroupLab: Sendable {
    /// The order in which ready jobs run.
    public enum Schedule: Sendable {
        /// In the order in which they became ready.
        case inOrder
        /// In a random order derived from the seed; finds code that depends on the order of jobs.
        case shuffled
    }

    /// The maximum number of steps in one call; beyond it the lab counts as never settling.
    static let maximumSteps = 2_000_000

    /// The seed of all random choices, including the members' keys.
    public let seed: UInt64
    /// The clock of all members and their bots.
    public let clock: ManualClock
    /// The relays and the members' connections to them, with their faults.
    public let network: LabNetwork
    /// The content of all media servers, with their faults.
    public let media = LabMediaStore()
    /// The media relay of every member's calls.
    package let calls: LabCallNetwork
    /// The media servers of every member, in order of preference.
    public let mediaServers: [MediaURL]
    /// The relays of every member.
    public let relays: [RelayURL]
    /// The schedule on which members renew their keys automatically.
    public let selfUpdate: SelfUpdatePolicy
    /// The protocol generation of new groups.
    public let groupProtocol: GroupProtocol
    let executor: LabExecutor
    let log = LabLog()
    private let members = Mutex<[LabMember]>([])

    /// - Parameters:
    ///   - relays: the number of relays.
    ///   - selfUpdate: when members renew their keys automatically; never by default.
    ///   - groupProtocol: the protocol generation of new groups. In the second, members apply the commits of others only
    ///     after a second without further ones: ``advance(by:)`` the time after each change.
    ///   - milliseconds: the initial time, in Unix milliseconds.
    public init(
        seed: UInt64, relays: Int = 1, schedule: Schedule = .inOrder, selfUpdate: SelfUpdatePolicy = .never,
        groupProtocol: GroupProtocol = .v1, milliseconds: Int64 = 1_800_000_000_000
    ) throws {
        self.selfUpdate = selfUpdate
        self.groupProtocol = groupProtocol
        self.seed = seed
        self.relays = try (0..<relays).map { try RelayURL("wss://relay\($0 + 1).example") }
        self.mediaServers = try (1...2).map { try MediaURL("https://media\($0).example") }
        self.calls = LabCallNetwork(seed: seed)
        self.clock = ManualClock(milliseconds: milliseconds)
        self.network = LabNetwork(relays: self.relays)
        self.executor = LabExecutor(
            shuffle: schedule == .shuffled ? SeededGenerator(seed: seed, stream: "schedule") : nil)
    }

    /// The log lines of all members, oldest first.
    public var logLines: [String] { self.log.lines }

    /// The lab's first relay.
    public var relay: RelayURL { self.relays[0] }

    // MARK: Members

    /// Creates an account with a running core. Its key package is on the relays when this returns.
    ///
    /// - Parameters:
    ///   - invites: the accounts that may add it to a group without its approval.
    ///   - relays: its own relays; all of the lab by default.
    ///   - calls: the calls that ring; all by default.
    ///   - inviteLimits: the rate limits of invitations; none by default.
    ///   - remoteSigner: whether its key is kept by a ``LabSigner``.
    ///   - handler: its handler of each event; does nothing by default.
    public func member(
        _ name: String, invites: CoreConfiguration.InvitePolicy = .anyone, relays: [RelayURL]? = nil,
        calls: CallPolicy = .handlers, inviteLimits: CoreConfiguration.InviteLimits = .init(),
        remoteSigner: Bool = false,
        handler: @escaping LabMember.Handler = { _ in [] }
    ) async throws -> LabMember {
        let configuration = CoreConfiguration(
            relays: relays ?? self.relays, invites: invites, selfUpdate: self.selfUpdate,
            mediaServers: self.mediaServers, calls: calls, inviteLimits: inviteLimits,
            groupProtocol: self.groupProtocol)
        return try await self.add(
            LabMember(
                name, lab: self, configuration: configuration, work: .handler(handler), hasSigner: remoteSigner))
    }

    /// Creates an account with a bot, run as the runtime would.
    ///
    /// - Parameters:
    ///   - policy: the messages that may trigger it.
    ///   - services: the services outside the chats, such as a fake HTTP client.
    public func bot<B: Bot>(
        _ type: B.Type, name: String? = nil, settings: BotSettings = .object([:]), policy: BotPolicy = BotPolicy(),
        services: BotServices = BotServices(), invites: CoreConfiguration.InvitePolicy = .anyone
    ) async throws -> LabMember {
        let place = LabBots.Entry(try type.init(settings: settings), label: B.name, policy: policy)
        return try await self.bots(name ?? B.name, LabBots([place], services: services), invites: invites)
    }

    /// Creates an account with bots, run as the runtime would.
    ///
    /// - Parameter retention: the account's retention limits, including the size of the bots' backlog.
    package func bots(
        _ name: String, _ bots: LabBots, invites: CoreConfiguration.InvitePolicy = .anyone,
        retention: RetentionPolicy = .standard
    ) async throws -> LabMember {
        let configuration = CoreConfiguration(
            relays: self.relays, invites: invites, selfUpdate: self.selfUpdate, retention: retention,
            mediaServers: self.mediaServers, groupProtocol: self.groupProtocol)
        return try await self.add(
            LabMember(name, lab: self, configuration: configuration, work: .bots, bots: bots))
    }

    /// Creates an account whose events are handled by `driver`, which is called once for each run of the core.
    package func member(
        _ name: String, configuration: CoreConfiguration, driver: @escaping LabMember.Driver
    ) async throws -> LabMember {
        try await self.add(LabMember(name, lab: self, configuration: configuration, work: .driver(driver)))
    }

    private func add(_ member: LabMember) async throws -> LabMember {
        precondition(!self.allMembers.contains { $0.name == member.name }, "duplicate member name \(member.name)")
        self.members.withLock { $0.append(member) }
        member.start(MemoryCoreStore())
        try await self.settle()
        return member
    }

    var allMembers: [LabMember] { self.members.withLock { $0 } }

    func name(of key: PublicKey) -> String {
        self.allMembers.first { $0.publicKey == key }?.name ?? String(key.hex.prefix(8))
    }

    // MARK: Running

    /// Runs all members until they wait. Throws if a member's core has ended or the members never settle.
    public func settle() async throws {
        let steps = await self.executor.drain(limit: Self.maximumSteps)
        guard steps < Self.maximumSteps else {
            throw self.error(.neverSettles, "after \(steps) steps the members are still busy")
        }
        for member in self.allMembers {
            if let failure = member.failure { throw self.error(.memberFailed, "\(member.name): \(failure)") }
        }
    }

    /// Moves the clock forward, from one deadline to the next, and settles after each.
    public func advance(by duration: Duration) async throws {
        try await self.settle()
        let end = self.clock.nowMilliseconds + duration.milliseconds
        while let next = self.clock.nextDeadline, next <= end {
            self.clock.advance(toMilliseconds: next)
            try await self.settle()
        }
        self.clock.advance(toMilliseconds: end)
        try await self.settle()
    }

    /// Runs a task among the members, such as a query of a core, and settles.
    package func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let box = Box()
        let task = Task(executorPreference: self.executor) { try await box.run(body) }
        try await self.settle()
        guard box.isDone else {
            task.cancel()
            throw self.error(.stillWaiting, "the operation did not finish")
        }
        return try await task.value
    }

    /// Records whether a task has ended, because a `Task` cannot be asked without waiting.
    private final class Box: Sendable {
        private let done = Mutex(false)

        var isDone: Bool { self.done.withLock { $0 } }

        func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
            defer { self.done.withLock { $0 = true } }
            return try await body()
        }
    }

    // MARK: Expectations

    /// Returns an error with the seed that reproduces it.
    func error(_ code: LabError.Code, _ message: String) -> LabError {
        LabError(code, "\(message) (seed \(self.seed))")
    }
}
