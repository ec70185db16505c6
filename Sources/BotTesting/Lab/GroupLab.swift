public import BotDispatch
public import BotKit
import Synchronization

/// Whole encrypted groups in one process: every member is a real core with real MLS, over relays in memory.
///
/// Nothing happens by itself. Members work only while ``settle()`` or ``advance(by:)`` runs, on one thread, until each
/// of them waits; so a test never sleeps, and the seed repeats what happened.
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
    /// In which order those run who could run at the same time.
    public enum Schedule: Sendable {
        /// First come, first served.
        case inOrder
        /// As the seed chooses: finds what relies on luck.
        case shuffled
    }

    /// More steps than this at one go, and the lab says that it never settles.
    static let maximumSteps = 2_000_000

    public let seed: UInt64
    public let clock: ManualClock
    public let network: LabNetwork
    public let media = LabMediaStore()
    /// What carries the calls of every member.
    public let calls: LabCallNetwork
    /// The media servers of every member, in their order.
    public let mediaServers: [MediaURL]
    /// The relays of every member.
    public let relays: [RelayURL]
    /// When members renew their keys by themselves.
    public let selfUpdate: SelfUpdatePolicy
    let executor: LabExecutor
    let log = LabLog()
    private let members = Mutex<[LabMember]>([])

    /// - Parameters:
    ///   - relays: how many there are.
    ///   - selfUpdate: when members renew their keys by themselves; never, unless given.
    ///   - milliseconds: the time to start from, Unix milliseconds.
    public init(
        seed: UInt64, relays: Int = 1, schedule: Schedule = .inOrder, selfUpdate: SelfUpdatePolicy = .never,
        milliseconds: Int64 = 1_800_000_000_000
    ) throws {
        self.selfUpdate = selfUpdate
        self.seed = seed
        self.relays = try (0..<relays).map { try RelayURL("wss://relay\($0 + 1).example") }
        self.mediaServers = try (1...2).map { try MediaURL("https://media\($0).example") }
        self.calls = LabCallNetwork(seed: seed)
        self.clock = ManualClock(milliseconds: milliseconds)
        self.network = LabNetwork(relays: self.relays)
        self.executor = LabExecutor(
            shuffle: schedule == .shuffled ? SeededGenerator(seed: seed, stream: "schedule") : nil)
    }

    /// What all members have logged, oldest first.
    public var logLines: [String] { self.log.lines }

    /// The relay of a lab that has one; the first of several.
    public var relay: RelayURL { self.relays[0] }

    // MARK: Members

    /// A new account with a running core. Its key package is on the relays when this returns.
    ///
    /// - Parameters:
    ///   - invites: who may bring it into a group without asking.
    ///   - relays: its own; all of the lab, unless given.
    ///   - calls: which calls ring; all of them, unless given.
    ///   - inviteLimits: how many invitations it looks at; all of them, unless given.
    ///   - remoteSigner: whether its key is kept by a ``LabSigner``.
    ///   - handler: what it does about each event; nothing, unless given.
    public func member(
        _ name: String, invites: CoreConfiguration.InvitePolicy = .anyone, relays: [RelayURL]? = nil,
        calls: CallPolicy = .handlers, inviteLimits: CoreConfiguration.InviteLimits = .init(),
        remoteSigner: Bool = false,
        handler: @escaping LabMember.Handler = { _ in [] }
    ) async throws -> LabMember {
        let configuration = CoreConfiguration(
            relays: relays ?? self.relays, invites: invites, selfUpdate: self.selfUpdate,
            mediaServers: self.mediaServers, calls: calls, inviteLimits: inviteLimits)
        return try await self.add(
            LabMember(
                name, lab: self, configuration: configuration, work: .handler(handler), hasSigner: remoteSigner))
    }

    /// A new account with a bot that answers through it, run as the runtime would.
    ///
    /// - Parameters:
    ///   - policy: what may trigger it.
    ///   - services: the world outside the chats, such as a fake of HTTP.
    public func bot<B: Bot>(
        _ type: B.Type, name: String? = nil, settings: BotSettings = .object([:]), policy: BotPolicy = BotPolicy(),
        services: BotServices = BotServices(), invites: CoreConfiguration.InvitePolicy = .anyone
    ) async throws -> LabMember {
        let place = LabBots.Place(try type.init(settings: settings), label: B.name, policy: policy)
        return try await self.bots(name ?? B.name, LabBots([place], services: services), invites: invites)
    }

    /// A new account with bots that answer through it, run as the runtime would.
    ///
    /// - Parameter retention: what the account keeps, and how many events may wait for the bots.
    public func bots(
        _ name: String, _ bots: LabBots, invites: CoreConfiguration.InvitePolicy = .anyone,
        retention: RetentionPolicy = .standard
    ) async throws -> LabMember {
        let configuration = CoreConfiguration(
            relays: self.relays, invites: invites, selfUpdate: self.selfUpdate, retention: retention,
            mediaServers: self.mediaServers)
        return try await self.add(
            LabMember(name, lab: self, configuration: configuration, work: .bots, bots: bots))
    }

    /// A new account whose events somebody else takes care of, from its start to its end or crash, each time anew.
    public func member(
        _ name: String, configuration: CoreConfiguration, driver: @escaping LabMember.Driver
    ) async throws -> LabMember {
        try await self.add(LabMember(name, lab: self, configuration: configuration, work: .driver(driver)))
    }

    private func add(_ member: LabMember) async throws -> LabMember {
        precondition(!self.allMembers.contains { $0.name == member.name }, "two members named \(member.name)")
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

    /// Lets everybody work until all wait. Throws if somebody's core has ended, or if there is no end to it.
    public func settle() async throws {
        let steps = await self.executor.drain(limit: Self.maximumSteps)
        guard steps < Self.maximumSteps else {
            throw self.error(.neverSettles, "after \(steps) steps the members are still busy")
        }
        for member in self.allMembers {
            if let failure = member.failure { throw self.error(.memberFailed, "\(member.name): \(failure)") }
        }
    }

    /// Moves the clock forward, from one thing that is due to the next, and settles each time.
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

    /// Runs something among the members, such as a question to a core, and settles.
    func run<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let box = Box()
        let task = Task(executorPreference: self.executor) { try await box.run(body) }
        try await self.settle()
        guard box.isDone else {
            task.cancel()
            throw self.error(.stillWaiting, "no answer came")
        }
        return try await task.value
    }

    /// Remembers whether a task has ended, which a task does not tell without waiting.
    private final class Box: Sendable {
        private let done = Mutex(false)

        var isDone: Bool { self.done.withLock { $0 } }

        func run<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
            defer { self.done.withLock { $0 = true } }
            return try await body()
        }
    }

    // MARK: Expectations

    /// An error that says how to repeat it.
    func error(_ code: LabError.Code, _ message: String) -> LabError {
        LabError(code, "\(message) (seed \(self.seed))")
    }
}
