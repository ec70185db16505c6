import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// Members of one group of the second generation in memory; the test decides who receives which event.
struct ComponentLab {
    static let start: UnixTime = 1_800_000_000
    static let relays = ["wss://relay.one.example", "wss://relay.two.example"]
    static let slot = String(repeating: "2", count: 64)

    var rng: SplitMix64
    var now = ComponentLab.start
    var keys: [KeyPair] = []
    var devices: [DeviceKey] = []
    var groups: [ComponentGroup] = []

    /// An account with a key package, not in the group yet.
    struct Newcomer {
        let keys: KeyPair
        let device: DeviceKey
        let bundle: KeyPackageBundle
        let invitee: ComponentInvitee
    }

    static func media() throws -> EncryptedMediaPolicy {
        try EncryptedMediaPolicy(blossomServers: ["https://blossom.example.com/"])
    }

    static func routing(_ byte: UInt8, relays: [String] = ComponentLab.relays) throws -> NostrRouting {
        try NostrRouting(
            nostrGroupID: try #require(Bytes32([UInt8](repeating: byte, count: 32))), relays: relays)
    }

    /// A group of `count` members at epoch 1, founded by member 0; with one member at epoch 0.
    init(
        _ count: Int, admins: [Int] = [0], bare: Bool = false, retention: UInt64 = 0, seed: UInt64 = 1
    ) throws {
        self.rng = SplitMix64(seed: seed)
        let founder = try self.newcomer()
        var newcomers = [founder]
        for _ in 1..<max(count, 1) { newcomers.append(try self.newcomer()) }
        self.keys = newcomers.map(\.keys)
        self.devices = newcomers.map(\.device)
        let media = try Self.media()
        let features: GroupPlan.Features = bare ? .bare : .whiteNoise(media)
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "Lab", description: "of members"),
            admins: try AdminPolicy(admins.map { newcomers[$0].keys.publicKey }), routing: try Self.routing(0x11),
            features: features, retentionSeconds: retention)
        let (group, welcomes) = try ComponentGroup.found(
            plan, by: founder.device, inviting: newcomers.dropFirst().map(\.invitee), now: self.now, using: &self.rng)
        self.groups = [group]
        for (newcomer, welcome) in zip(newcomers.dropFirst(), welcomes) {
            #expect(welcome.recipient == newcomer.keys.publicKey)
            self.groups.append(try Self.join(newcomer, welcome).group)
        }
    }

    static func join(
        _ newcomer: Newcomer, _ welcome: DueWelcome, known: KnownGroups = KnownGroups()
    ) throws -> JoinedGroup {
        try ComponentGroup.join(
            WelcomeInvitation(welcome.rumor), with: newcomer.bundle, account: newcomer.keys.publicKey, known: known)
    }

    mutating func newcomer() throws -> Newcomer {
        let keys = KeyPair.generate(using: &self.rng)
        let device = try DeviceKey.generate(for: keys, now: self.now, using: &self.rng)
        let bundle = try device.keyPackage(now: self.now, using: &self.rng)
        let event = try DeviceKey.announcement(of: bundle.keyPackage, slot: Self.slot)
            .draft(by: keys.publicKey, now: self.now).signed(by: keys, using: &self.rng)
        return Newcomer(
            keys: keys, device: device, bundle: bundle,
            invitee: try ComponentInvitee(examining: event, now: self.now))
    }

    // MARK: Messages

    func rumor(_ text: String, from member: Int) -> UnsignedEvent {
        UnsignedEvent(pubkey: self.keys[member].publicKey, createdAt: self.now, kind: .chatMessage, content: text)
    }

    mutating func say(_ text: String, from member: Int) throws -> SealedMessage {
        let rumor = self.rumor(text, from: member)
        return try self.groups[member].seal(rumor, using: &self.rng)
    }

    func open(_ event: Event, at member: Int) throws -> GroupMessage {
        try #require(try ComponentGroup.open(event, over: [self.groups[member]]))
    }

    mutating func read(_ event: Event, at member: Int) throws -> AuthenticatedMessage {
        let message = try self.open(event, at: member)
        return try self.groups[member].receive(message)
    }

    // MARK: Commits and proposals

    mutating func stage(_ change: ComponentChange, by member: Int) throws -> StagedComponentCommit {
        try self.groups[member].staging(change, now: self.now, using: &self.rng)
    }

    /// Commits, applies at the author, and delivers to all others; removed members keep their last value.
    @discardableResult
    mutating func commit(
        _ change: ComponentChange, by member: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> StagedComponentCommit {
        let staged = try self.stage(change, by: member)
        for other in self.groups.indices where other != member && self.groups[other].epoch == staged.judged.epoch {
            let judged = try self.groups[other].judging(self.open(staged.event, at: other), now: self.now)
            #expect(judged.digest == staged.judged.digest, sourceLocation: sourceLocation)
            #expect(judged.committer == self.keys[member].publicKey, sourceLocation: sourceLocation)
            #expect(judged.priority == staged.judged.priority, sourceLocation: sourceLocation)
            #expect(judged.after == staged.next.state, sourceLocation: sourceLocation)
            #expect(judged.rows == staged.judged.rows, sourceLocation: sourceLocation)
            if let next = judged.next { self.groups[other] = next }
        }
        self.groups[member] = staged.next
        return staged
    }

    mutating func add(_ newcomer: Newcomer, by member: Int) throws {
        let staged = try self.commit(.add([newcomer.invitee]), by: member)
        self.keys.append(newcomer.keys)
        self.devices.append(newcomer.device)
        self.groups.append(try Self.join(newcomer, try #require(staged.welcomes.first)).group)
    }

    /// A commit that its author did not judge; the author's value is not changed.
    mutating func forge(
        by member: Int, _ change: (inout CommitRequest) throws -> Void
    ) throws -> GroupMessage {
        var request = CommitRequest()
        try change(&request)
        var mls = self.groups[member].mls
        let bytes = try mls.commit(request, using: &self.rng).message
        return try self.message(bytes)
    }

    /// A proposal that its author did not judge, but keeps.
    mutating func propose(_ proposal: Proposal, by member: Int) throws -> (message: GroupMessage, reference: [UInt8]) {
        let (bytes, reference) = try self.groups[member].mls.propose(proposal, using: &self.rng)
        return (try self.message(bytes), reference)
    }

    func message(_ bytes: [UInt8]) throws -> GroupMessage { try GroupMessage(bytes, of: self.groups[0].groupID) }

    // MARK: Checks

    /// Expects all members of the latest epoch to share it, and to read each other's messages.
    mutating func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let latest = try #require(self.groups.map(\.epoch).max())
        let present = self.groups.indices.filter { self.groups[$0].epoch == latest }
        let first = try #require(present.first)
        for member in present {
            #expect(
                self.groups[member].mls.epochAuthenticator == self.groups[first].mls.epochAuthenticator,
                "member \(member)", sourceLocation: sourceLocation)
            #expect(self.groups[member].state == self.groups[first].state, sourceLocation: sourceLocation)
        }
        for sender in present {
            let sealed = try self.say("from \(sender)", from: sender)
            for receiver in present where receiver != sender {
                let read = try self.read(sealed.event, at: receiver)
                #expect(try read.payload.get().event.content == "from \(sender)", sourceLocation: sourceLocation)
                #expect(read.sender == self.keys[sender].publicKey, sourceLocation: sourceLocation)
            }
        }
    }
}

/// Expects `body` to be refused by this rule.
func expectViolation(
    _ rule: GroupRule, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("expected a violation of \(rule.rawValue)", sourceLocation: sourceLocation)
    } catch HandshakeRefusal.forbidden(let violation) {
        #expect(violation.rule == rule, "\(violation)", sourceLocation: sourceLocation)
    } catch let violation as RuleViolation {
        #expect(violation.rule == rule, "\(violation)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("expected a violation of \(rule.rawValue), found \(error)", sourceLocation: sourceLocation)
    }
}

extension AppDataUpdate {
    /// An update of a known component, for forged commits.
    static func setting(_ component: KnownComponent, _ data: [UInt8]) -> AppDataUpdate {
        AppDataUpdate(component.id, .update(data))
    }

    static func removing(_ component: KnownComponent) -> AppDataUpdate { AppDataUpdate(component.id, .remove) }

    /// A new list of required components.
    static func requiring(_ components: [ComponentID]) -> AppDataUpdate {
        AppDataUpdate(.appComponents, .update(ComponentsList(components).tlsEncoded()))
    }
}
