import MLS
import Marmot
import Nostr
import PikaCore
import Storage

/// A durable store of an account in many groups, each with a long history.
struct Fixture {
    static let messagesInEach = 1000
    static let relay = "wss://relay.example.com"

    let account: KeyPair
    let store: AccountStore

    /// - Parameter folder: an empty one; about 0.7 kB a message is written there.
    init(chats: Int, folder: String) async throws {
        var rng = SystemRandomNumberGenerator()
        self.account = KeyPair.generate(using: &rng)
        self.store = try AccountStore.open(directory: folder, sealingKey: .random())
        let start: UnixTime = 1_750_000_000
        let invitees = try (0..<2).map { _ in
            let key = KeyPair.generate(using: &rng)
            let bundle = try KeyPackageEvents.makeBundle(for: key.publicKey, now: start, using: &rng)
            let events = KeyPackageEvents.events(
                for: bundle.keyPackage, slot: String(repeating: "5e", count: 32), relays: [try RelayURL(Self.relay)],
                client: "state-benchmarks", by: key, now: start, using: &rng)
            return try Invitee(events.addressable, now: start)
        }
        for number in 0..<chats {
            var (group, _) = try MarmotGroup.create(
                try self.data("chat \(number)", using: &rng), founder: self.account.publicKey, inviting: invitees,
                client: "state-benchmarks", limits: .unlimited, now: start, using: &rng)
            let changes = group.drainChanges()
            let key = [0] + group.groupID.bytes
            var stored: [StoreChange] = [.updateGroup(key: key, changes.mls)]
            if let header = changes.header { stored.insert(.putGroupHeader(key: key, header: header), at: 0) }
            for line in 0..<Self.messagesInEach {
                let sender = line.isMultiple(of: 3) ? self.account.publicKey : invitees[line % 2].identity
                let rumor = UnsignedEvent(
                    pubkey: sender, createdAt: start + Int64(line), kind: .chatMessage,
                    content: "line \(line) of chat \(number): the quick brown fox jumps over the lazy dog")
                stored.append(
                    .putMessage(
                        StoredMessage(
                            groupID: group.groupID, rumor: rumor, id: rumor.id, wrapper: rumor.id, epoch: 1,
                            isOwn: sender == self.account.publicKey)))
            }
            try await self.store.commit(stored)
        }
    }

    private func data(_ name: String, using rng: inout some RandomNumberGenerator) throws -> GroupData {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &rng) }
        guard let id = Bytes32(bytes) else { throw Failure(reason: "no group id") }
        return GroupData(
            nostrGroupID: id, name: name, description: "", admins: [self.account.publicKey],
            relays: [try RelayURL(Self.relay)])
    }
}

struct Failure: Error {
    let reason: String
}

/// A relay that is always connected and accepts everything.
struct PerfectTransport: RelayTransport {
    let updates: AsyncStream<RelayUpdate>
    private let next: AsyncStream<RelayUpdate>.Continuation

    init() { (self.updates, self.next) = AsyncStream.makeStream() }

    func setRelays(_ relays: [RelayURL]) async {
        for relay in relays { self.next.yield(.state(relay: relay, .connected)) }
    }
    func subscribe(_ subscription: RelaySubscription) async {}
    func unsubscribe(_ id: String) async {}

    func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport> {
        let (reports, next) = AsyncStream<PublishReport>.makeStream()
        for relay in relays { next.yield(PublishReport(relay: relay, outcome: .accepted)) }
        next.finish()
        return reports
    }

    func fetch(
        _ filters: [Filter], from relays: [RelayURL], timeout: Duration
    ) async -> [RelayURL: FetchOutcome] {
        Dictionary(relays.map { ($0, .events([])) }) { first, _ in first }
    }

    func shutdown() async { self.next.finish() }
}
