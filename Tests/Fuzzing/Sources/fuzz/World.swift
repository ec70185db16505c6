import MLS
import Nostr
import PikaCore

@testable import Marmot

/// A group of four, its first two members admins, and one prospective member: the same in every run.
struct World: Sendable {
    let now: UnixTime = 1_800_000_000
    let relay: RelayURL
    let keys: [KeyPair]
    let groups: [MarmotGroup]
    let newcomer: KeyPackageBundle
    let newcomerKeys: KeyPair
    let newcomerEvents: [Event]
    let welcome: UnsignedEvent
    /// A message of member 0 that no member has opened yet.
    let genuine: Event

    init() throws {
        var rng = RepeatableGenerator(seed: 1)
        let now = self.now
        let relay = try RelayURL("wss://relay.example")
        self.relay = relay
        func invite(
            _ rng: inout RepeatableGenerator
        ) throws -> (keys: KeyPair, bundle: KeyPackageBundle, events: [Event], invitee: Invitee) {
            let keys = KeyPair.generate(using: &rng)
            let bundle = try KeyPackageEvents.makeBundle(for: keys.publicKey, now: now, using: &rng)
            let events = KeyPackageEvents.events(
                for: bundle.keyPackage, slot: String(repeating: "22", count: 32), relays: [relay], client: "fuzz",
                by: keys, now: now, using: &rng)
            return (
                keys, bundle, [events.addressable, events.legacy], try Invitee(events.addressable, now: now)
            )
        }
        let founder = KeyPair.generate(using: &rng)
        let others = try (0..<3).map { _ in try invite(&rng) }
        let data = GroupData(
            nostrGroupID: KeyPair.generate(using: &rng).publicKey.bytes32, name: "Fuzz", description: "d",
            admins: [founder.publicKey, others[0].keys.publicKey], relays: [relay])
        let (group, welcomes) = try MarmotGroup.create(
            data, founder: founder.publicKey, inviting: others.map(\.invitee), client: "fuzz", now: now, using: &rng)
        var groups = [group]
        for (other, welcome) in zip(others, welcomes) {
            groups.append(
                try MarmotGroup.join(
                    WelcomeEvents.read(welcome.rumor), with: other.bundle, account: other.keys.publicKey))
        }
        // Afterwards every member has its own path, and there are past epochs.
        for author in [1, 0] {
            let event = try groups[author].commit(.selfUpdate, client: "fuzz", now: now, using: &rng).event
            _ = try groups[author].mergePending()
            for other in groups.indices where other != author { _ = groups[other].ingest(event, now: now) }
        }
        let newcomer = try invite(&rng)
        var inviting = groups[0]
        _ = try inviting.commit(.add([newcomer.invitee]), client: "fuzz", now: now, using: &rng)
        guard let welcome = try inviting.mergePending().welcomes.first else {
            throw MarmotError(.notFound, "expected a Welcome for the add")
        }
        let keys = [founder] + others.map(\.keys)
        let rumor = UnsignedEvent(pubkey: founder.publicKey, createdAt: now, kind: .chatMessage, content: "genuine")
        self.genuine = try groups[0].seal(rumor, now: now, using: &rng)
        self.keys = keys
        self.groups = groups
        self.newcomer = newcomer.bundle
        self.newcomerKeys = newcomer.keys
        self.newcomerEvents = newcomer.events
        self.welcome = welcome.rumor
    }

    /// An encoded MLSMessage in the outer encryption, as any member can send it.
    func wrap(_ message: [UInt8]) throws -> Event {
        var rng = RepeatableGenerator(seed: 2)
        return try self.groups[0].sealOuter(message, at: self.now, using: &rng)
    }

    /// Delivers an event to a member; a refused event must leave the group able to read.
    func deliver(_ event: Event, to member: Int = 2) -> MarmotGroup {
        var group = self.groups[member]
        switch group.ingest(event, now: self.now) {
        case .refused(let refusal):
            precondition(!refusal.reason.isEmpty && !refusal.detail.isEmpty && refusal.reason != "unexpected")
            self.requireAlive(group)
        case .waiting: self.requireAlive(group)
        case .message, .commit, .proposal, .ownCommit, .ownEcho, .otherCopy: break
        }
        return group
    }

    private func requireAlive(_ group: MarmotGroup) {
        var copy = group
        guard case .message(let message) = copy.ingest(self.genuine, now: self.now) else {
            preconditionFailure("the group must read a valid event after a refused one")
        }
        precondition(message.rumor.content == "genuine")
    }
}

extension PublicKey {
    var bytes32: Bytes32 {
        guard let bytes = Bytes32(self.bytes) else { preconditionFailure("expected a key of 32 bytes") }
        return bytes
    }
}
