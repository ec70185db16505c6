import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Members of one group in memory; the test decides who receives which event, and when.
struct Lab {
    static let client = "pikabot/test"
    static let start: UnixTime = 1_800_000_000
    static let relays = ["wss://relay.one.example", "wss://relay.two.example"]

    var rng: SplitMix64
    var now = Lab.start
    var keys: [KeyPair] = []
    var groups: [MarmotGroup] = []

    /// An account with a key package, not in the group yet.
    struct Newcomer {
        let keys: KeyPair
        let bundle: KeyPackageBundle
        let invitee: Invitee
    }

    /// A group of `count` members at epoch 1, founded by member 0.
    init(_ count: Int, admins: [Int] = [0], capabilities: Capabilities? = nil, seed: UInt64 = 1) throws {
        self.rng = SplitMix64(seed: seed)
        let founder = KeyPair.generate(using: &self.rng)
        var newcomers: [Newcomer] = []
        for _ in 1..<count { newcomers.append(try self.newcomer(capabilities: capabilities)) }
        self.keys = [founder] + newcomers.map(\.keys)
        let data = GroupData(
            nostrGroupID: Self.groupID(0x11), name: "Lab", description: "",
            admins: admins.map { self.keys[$0].publicKey }, relays: try Self.relays.map { try RelayURL($0) })
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: founder.publicKey, inviting: newcomers.map(\.invitee), client: Self.client,
            limits: .unlimited, now: self.now, using: &self.rng)
        self.groups = [group]
        for (newcomer, welcome) in zip(newcomers, welcomes) {
            #expect(welcome.recipient == newcomer.keys.publicKey)
            self.groups.append(try Self.join(newcomer, welcome))
        }
    }

    static func groupID(_ byte: UInt8) -> Bytes32 { Bytes32([UInt8](repeating: byte, count: 32))! }

    static func join(_ newcomer: Newcomer, _ welcome: DueWelcome) throws -> MarmotGroup {
        try MarmotGroup.join(
            WelcomeEvents.read(welcome.rumor), with: newcomer.bundle, account: newcomer.keys.publicKey)
    }

    mutating func newcomer(capabilities: Capabilities? = nil) throws -> Newcomer {
        let keys = KeyPair.generate(using: &self.rng)
        var bundle = try KeyPackageEvents.makeBundle(for: keys.publicKey, now: self.now, using: &self.rng)
        if let capabilities {
            bundle = try KeyPackageBundle.generate(
                .x25519AES128GCM, credential: keys.publicKey.credential, capabilities: capabilities,
                lifetime: Lifetime(notBefore: 0, notAfter: .max),
                signatureKey: try SignaturePrivateKey.generate(.x25519AES128GCM, using: &self.rng),
                extensions: [Extension(type: .lastResort, data: [])], using: &self.rng)
        }
        let event = KeyPackageEvents.events(
            for: bundle.keyPackage, slot: Self.groupID(0x22).hex, relays: try Self.relays.map { try RelayURL($0) },
            client: Self.client, by: keys, now: self.now, using: &self.rng
        ).addressable
        return Newcomer(keys: keys, bundle: bundle, invitee: try Invitee(event, now: self.now))
    }

    /// The capabilities of a client from the time of MDK 0.7: no SelfRemove.
    static var oldCapabilities: Capabilities {
        Capabilities(cipherSuites: [1, 0x0A0A], extensions: [0x000A, 0xF2EE, 0x1A1A], proposals: [0x2A2A])
    }

    // MARK: Events

    func rumor(_ text: String, from member: Int, kind: Kind = .chatMessage) -> UnsignedEvent {
        UnsignedEvent(pubkey: self.keys[member].publicKey, createdAt: self.now, kind: kind, content: text)
    }

    mutating func say(_ text: String, from member: Int) throws -> Event {
        let rumor = self.rumor(text, from: member)
        return try self.groups[member].seal(rumor, now: self.now, using: &self.rng)
    }

    /// A message with an arbitrary plaintext.
    mutating func say(raw bytes: [UInt8], from member: Int) throws -> Event {
        let message = try self.groups[member].mls.protect(bytes, using: &self.rng)
        return try self.wrap(message, from: member)
    }

    /// A commit that stays pending at its author.
    mutating func commit(_ change: GroupChange, by member: Int) throws -> Event {
        try self.groups[member].commit(change, client: Self.client, now: self.now, using: &self.rng).event
    }

    /// A commit without Marmot's checks; its author's group is not changed.
    mutating func forge(by member: Int, _ change: (inout CommitRequest) throws -> Void) throws -> Event {
        var request = CommitRequest()
        try change(&request)
        var mls = self.groups[member].mls
        return try self.wrap(try mls.commit(request, using: &self.rng).message, from: member)
    }

    mutating func propose(
        _ proposal: Proposal, by member: Int, wireFormat: WireFormat = .privateMessage
    ) throws -> Event {
        let message = try self.groups[member].mls.propose(proposal, wireFormat: wireFormat, using: &self.rng).message
        return try self.wrap(message, from: member)
    }

    /// An encoded MLSMessage in the outer encryption of a member's epoch.
    mutating func wrap(_ message: [UInt8], from member: Int) throws -> Event {
        try self.groups[member].sealOuter(message, at: self.now, using: &self.rng)
    }

    /// The same content in an event with other tags or another time.
    mutating func rewrap(
        _ event: Event, at time: UnixTime? = nil, tags: [Tag]? = nil, content: String? = nil
    ) -> Event {
        let signer = KeyPair.generate(using: &self.rng)
        return UnsignedEvent(
            pubkey: signer.publicKey, createdAt: time ?? event.createdAt, kind: event.kind, tags: tags ?? event.tags,
            content: content ?? event.content
        ).signed(by: signer, using: &self.rng)
    }

    mutating func deliver(_ event: Event, to member: Int) -> Disposition {
        self.groups[member].ingest(event, now: self.now)
    }

    /// Commits, merges at the author and delivers to all other members.
    @discardableResult
    mutating func change(_ change: GroupChange, by member: Int) throws -> [DueWelcome] {
        let event = try self.commit(change, by: member)
        let welcomes = try self.groups[member].mergePending().welcomes
        for other in self.groups.indices where other != member && self.groups[other].isActive {
            #expect(self.deliver(event, to: other).label == "commit")
        }
        return welcomes
    }

    mutating func add(_ newcomer: Newcomer, by member: Int) throws {
        let welcomes = try self.change(.add([newcomer.invitee]), by: member)
        #expect(welcomes.count == 1)
        self.keys.append(newcomer.keys)
        self.groups.append(try Self.join(newcomer, try #require(welcomes.first)))
    }

    // MARK: Checks

    /// Expects all active members to be in the same epoch, and to read each other's messages.
    mutating func expectAgreement(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let active = self.groups.indices.filter { self.groups[$0].isActive }
        let first = try #require(active.first)
        for member in active {
            #expect(
                self.groups[member].mls.epochAuthenticator == self.groups[first].mls.epochAuthenticator,
                "member \(member)", sourceLocation: sourceLocation)
            #expect(self.groups[member].data == self.groups[first].data, sourceLocation: sourceLocation)
        }
        for sender in active {
            let event = try self.say("from \(sender)", from: sender)
            for receiver in active where receiver != sender {
                #expect(
                    self.deliver(event, to: receiver).message?.rumor.content == "from \(sender)",
                    "\(sender) to \(receiver)", sourceLocation: sourceLocation)
            }
        }
    }
}

extension MarmotGroup {
    /// All stored values, for comparison.
    var contents: [String: [UInt8]] {
        var copy = self
        copy.mls.markAllChanged()
        copy.headerChanged = true
        let changes = copy.drainChanges()
        var contents = ["header": changes.header?.copyBytes() ?? []]
        for (name, content) in changes.mls.records { contents[name.description] = content?.copyBytes() }
        for part in self.parts.subtracting(changes.parts.keys) { copy.changedParts.insert(part) }
        for (part, content) in copy.drainChanges().parts.merging(changes.parts, uniquingKeysWith: { first, _ in first })
        {
            contents["\(part)"] = content?.header.copyBytes()
            for (name, record) in content?.records ?? [:] { contents["\(part) \(name)"] = record.copyBytes() }
        }
        return contents
    }
}
