import MLS
import Marmot
import Nostr

/// A member of a group of the second generation: the selection of its branch, and its stored rows.
struct SecondMember: BenchmarkMember {
    private(set) var convergence: GroupConvergence<ComponentBranch>
    private(set) var meter = StoreMeter()
    private var rows = ConvergenceRows()
    /// The monotonic clock.
    private var clock: Int64 = 0
    private var random = SystemRandomNumberGenerator()

    init(_ group: ComponentGroup) throws {
        guard let id = Bytes32([UInt8](repeating: 1, count: 32)) else { throw Unexpected.outcome("no point") }
        self.convergence = GroupConvergence(ComponentBranch(group), id: id)
    }

    var epoch: Epoch { self.convergence.tip.epoch }

    static func found(_ count: Int, last: Int, now: UnixTime) throws -> Community<SecondMember> {
        var rng = SystemRandomNumberGenerator()
        let founder = KeyPair.generate(using: &rng)
        let device = try DeviceKey.generate(for: founder, now: now, using: &rng)
        guard let id = Bytes32((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &rng) }) else {
            throw Unexpected.outcome("no group id")
        }
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "benchmark"), admins: try AdminPolicy([founder.publicKey]),
            routing: try NostrRouting(nostrGroupID: id, relays: [Crowd.relay]), features: .bare)
        var group: ComponentGroup?
        var guests: [Community<SecondMember>.Guest] = []
        for size in Community<SecondMember>.steps(count, last: last) {
            let batch = try (0..<size).map { _ in try Self.package(now: now, using: &rng) }
            let welcomes: [DueWelcome]
            if let known = group {
                let staged = try known.staging(
                    .add(batch.map(\.invitee)), limits: .unlimited, now: now, using: &rng)
                group = staged.next
                welcomes = staged.welcomes
            } else {
                let made = try ComponentGroup.found(
                    plan, by: device, inviting: batch.map(\.invitee), limits: .unlimited, now: now, using: &rng)
                group = made.group
                welcomes = made.welcomes
            }
            guests = zip(batch, welcomes).map { package, welcome in
                Community<SecondMember>.Guest {
                    try SecondMember(
                        ComponentGroup.join(
                            WelcomeInvitation(welcome.rumor), with: package.bundle, account: package.invitee.identity,
                            known: KnownGroups()
                        ).group)
                }
            }
        }
        guard let group else { throw Unexpected.outcome("no group was founded") }
        return Community(founder: try SecondMember(group), guests: guests)
    }

    private struct Package {
        let bundle: KeyPackageBundle
        let invitee: ComponentInvitee
    }

    private static func package(now: UnixTime, using rng: inout SystemRandomNumberGenerator) throws -> Package {
        let keys = KeyPair.generate(using: &rng)
        let device = try DeviceKey.generate(for: keys, now: now, using: &rng)
        let bundle = try device.keyPackage(now: now, using: &rng)
        let event = try DeviceKey.announcement(of: bundle.keyPackage, slot: Crowd.slot)
            .draft(by: keys.publicKey, now: now).signed(by: keys, using: &rng)
        return Package(bundle: bundle, invitee: try ComponentInvitee(examining: event, now: now))
    }

    mutating func say(_ text: String, now: UnixTime) throws -> Event {
        let account = self.convergence.tip.group.account
        let rumor = UnsignedEvent(pubkey: account, createdAt: now, kind: .chatMessage, content: text)
        var random = SystemRandomNumberGenerator()
        let sealed = try self.convergence.updateTip { tip throws in
            try tip.withGroup { group throws in try group.seal(rumor, using: &random) }
        }
        _ = self.convergence.recordOwnMessage(sealed.digest, by: account)
        return sealed.event
    }

    mutating func renew(now: UnixTime) throws -> Event {
        let parent = self.convergence.tip
        let staged = try parent.group.staging(
            .selfUpdate(nil), limits: .unlimited, now: now, using: &self.random)
        let message = try GroupMessage(staged.message, of: parent.group.groupID)
        try self.convergence.stage(ConvergenceInput(message), ComponentBranch.step(of: staged, from: parent))
        _ = self.convergence.confirmOwnCommit(now: self.clock)
        return staged.event
    }

    mutating func read(_ event: Event, now: UnixTime) throws {
        let epoch = self.epoch
        try event.verify()
        let input = try self.input(of: event)
        try self.admit(input)
        if input.kind == .application { return }
        self.endPass()
        guard self.epoch > epoch else { throw Unexpected.outcome("the commit was not applied") }
    }

    /// Opens the outer layer of an event.
    func input(of event: Event) throws -> ConvergenceInput {
        let states = self.convergence.readableStates.map(\.group)
        guard let message = try ComponentGroup.open(event, over: states) else {
            throw Unexpected.outcome("no key opens the event")
        }
        return ConvergenceInput(message)
    }

    /// Receives a message; a commit waits for the end of the pass.
    mutating func admit(_ input: ConvergenceInput) throws {
        _ = self.convergence.receive(input, now: self.clock)
        switch self.convergence.disposition(of: input.id) {
        case .accepted, .collected: return
        case let other: throw Unexpected.outcome(String(describing: other))
        }
    }

    /// Advances the clock by the quiet time that ends a pass.
    mutating func endPass() {
        self.clock += Int64(ConvergencePolicy.quietMilliseconds)
        _ = self.convergence.advance(now: self.clock)
    }

    mutating func store() {
        let changes = self.rows.drainChanges(of: &self.convergence)
        if let header = changes.header { self.meter.note("header", header) }
        self.meter.note(changes.mls)
        for (part, content) in changes.parts { self.meter.note(part, content) }
    }
}
