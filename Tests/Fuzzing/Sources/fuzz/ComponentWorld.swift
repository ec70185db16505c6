import Nostr
import PikaCore

@testable import MLS
@testable import Marmot

/// A group of the second generation of four, its first two members admins, and one prospective member: the same in every
/// run.
struct ComponentWorld: Sendable {
    struct Person: Sendable {
        let keys: KeyPair
        let device: DeviceKey
        let bundle: KeyPackageBundle
        /// The announcement of the key package.
        let event: Event

        init(now: UnixTime, using rng: inout RepeatableGenerator) throws {
            let keys = KeyPair.generate(using: &rng)
            let device = try DeviceKey.generate(for: keys, now: now, using: &rng)
            let bundle = try device.keyPackage(now: now, using: &rng)
            self.event = try DeviceKey.announcement(of: bundle.keyPackage, slot: ComponentWorld.slot)
                .draft(by: keys.publicKey, now: now).signed(by: keys, using: &rng)
            self.keys = keys
            self.device = device
            self.bundle = bundle
        }
    }

    static let slot = String(repeating: "22", count: 32)

    let now: UnixTime
    let relay: RelayURL
    let people: [Person]
    /// The state of each member, in the same epoch.
    let groups: [ComponentGroup]
    let newcomer: Person
    /// The newcomer's invitation.
    let welcome: UnsignedEvent
    /// A message of member 0 that no member has opened yet.
    let genuine: Event
    /// Encoded MLS messages of the epoch: commits, proposals, an application message.
    let messages: [[UInt8]]

    init(_ world: World) throws {
        var rng = RepeatableGenerator(seed: 21)
        let now = world.now
        let people = try (0..<4).map { _ in try Person(now: now, using: &rng) }
        let invitees = try people.dropFirst().map { try ComponentInvitee(examining: $0.event, now: now) }
        let plan = GroupPlan(
            profile: try GroupProfileState(name: "Fuzz", description: "d"),
            admins: try AdminPolicy(people[..<2].map(\.keys.publicKey)),
            routing: try NostrRouting(
                nostrGroupID: people[0].keys.publicKey.bytes32, relays: [world.relay.string]),
            features: .whiteNoise(try EncryptedMediaPolicy(blossomServers: ["https://a.example"])))
        let (group, welcomes) = try ComponentGroup.found(
            plan, by: people[0].device, inviting: invitees, now: now, using: &rng)
        var groups = [group]
        for (person, welcome) in zip(people.dropFirst(), welcomes) {
            groups.append(
                try ComponentGroup.join(
                    WelcomeInvitation(welcome.rumor), with: person.bundle, account: person.keys.publicKey,
                    known: KnownGroups()
                ).group)
        }
        // Afterwards there are past epochs.
        for author in [1, 0] {
            let staged = try groups[author].staging(.selfUpdate(nil), now: now, using: &rng)
            let message = try GroupMessage(staged.message, of: group.groupID)
            for other in groups.indices {
                if other == author {
                    groups[other] = staged.next
                    continue
                }
                guard let next = try groups[other].judging(message, now: now).next else {
                    throw MarmotError(.notFound, "expected a state after the commit")
                }
                groups[other] = next
            }
        }
        let newcomer = try Person(now: now, using: &rng)
        let invitee = try ComponentInvitee(examining: newcomer.event, now: now)
        let addition = try groups[0].staging(.add([invitee]), now: now, using: &rng)
        guard let welcome = addition.welcomes.first else {
            throw MarmotError(.notFound, "expected a Welcome for the add")
        }
        let changes: [ComponentChange] = [
            .selfUpdate(nil), .profile(try GroupProfileState(name: "new")), .retention(seconds: 60),
            .admins(try AdminPolicy([people[0].keys.publicKey])), .remove([people[3].keys.publicKey]), .disband,
        ]
        var messages = changes.compactMap { try? groups[0].staging($0, now: now, using: &rng).message }
        messages.append(addition.message)
        for proposal in Self.proposals {
            var mls = groups[3].mls
            if let message = try? mls.propose(proposal, using: &rng).message { messages.append(message) }
        }
        let rumor = UnsignedEvent(
            pubkey: people[0].keys.publicKey, createdAt: now, kind: .chatMessage, content: "genuine")
        var mls = groups[0].mls
        messages.append(try mls.protect(AppPayload(rumor).encoded, using: &rng))
        self.genuine = try groups[0].seal(rumor, using: &rng).event
        self.now = now
        self.relay = world.relay
        self.people = people
        self.groups = groups
        self.newcomer = newcomer
        self.welcome = welcome.rumor
        self.messages = messages
    }

    static let proposals: [Proposal] = [
        .selfRemove, .remove(LeafIndex(rawValue: 2)), .appDataUpdate(AppDataUpdate(0x8001, .update([0, 0]))),
        .appDataUpdate(AppDataUpdate(0x8001, .remove)), .appEphemeral(ComponentData(0x8001, [1])),
    ]

    /// An inner event of member 0.
    var rumor: UnsignedEvent {
        UnsignedEvent(
            pubkey: self.people[0].keys.publicKey, createdAt: self.now, kind: .chatMessage, tags: [Tag("q", "é")],
            content: "hi \"you\"\n")
    }

    /// An encoded MLSMessage in the outer encryption, as any member can send it.
    func wrap(_ message: [UInt8]) throws -> Event {
        var rng = RepeatableGenerator(seed: 22)
        return try GroupEnvelope.seal(
            message, as: .handshake(now: self.now), key: self.groups[0].outerKey,
            nostrGroupID: self.groups[0].nostrGroupID, using: &rng)
    }
}
