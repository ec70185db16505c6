import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct KeyPackageSearchTests {
    private static let now = ReducerWorld.start
    private static let home = ReducerWorld.relay
    private static let far: [RelayURL] = (0..<20).compactMap { try? RelayURL("ws://127.0.0.1:\(7000 + $0)") }

    private struct Peer {
        let keys: KeyPair
        let bundle: KeyPackageBundle
        var random: SplitMix64
        var key: PublicKey { self.keys.publicKey }

        init(_ seed: UInt64, for identity: PublicKey? = nil) throws {
            self.random = SplitMix64(seed: seed)
            self.keys = KeyPair.generate(using: &self.random)
            self.bundle = try KeyPackageEvents.makeBundle(
                for: identity ?? self.keys.publicKey, now: KeyPackageSearchTests.now, using: &self.random)
        }

        mutating func package(
            at time: UnixTime = KeyPackageSearchTests.now, _ package: KeyPackage? = nil
        ) -> (addressable: Event, legacy: Event) {
            KeyPackageEvents.events(
                for: package ?? self.bundle.keyPackage, slot: String(repeating: "5c", count: 32),
                relays: [KeyPackageSearchTests.home], client: "test", by: self.keys, now: time, using: &self.random)
        }

        mutating func list(
            _ kind: Kind, _ relays: some Sequence<RelayURL>, at time: UnixTime = KeyPackageSearchTests.now
        ) -> Event {
            RelayListEvents.event(kind, relays: Array(relays), by: self.keys, now: time, using: &self.random)
        }
    }

    private func search(_ peers: [Peer], _ change: (inout CoreConfiguration) -> Void = { _ in }) -> KeyPackageSearch {
        var configuration = CoreConfiguration(relays: [Self.home])
        change(&configuration)
        return KeyPackageSearch(peers.map(\.key), configuration)
    }

    /// Runs a search against relays with these events; nil stands for a relay that is down.
    private func run(
        _ search: inout KeyPackageSearch, _ relays: [RelayURL: [Event]?], now: UnixTime = now
    ) -> [PublicKey: KeyPackageFinding] {
        while true {
            let requests = search.nextRequests()
            if search.isOver(for: nil, now: now) { return search.findings(for: nil, now: now) }
            if requests.isEmpty { return [:] }
            for request in requests {
                let events = relays[request.relay].flatMap { $0 }
                search.receive(
                    events.map { .events($0.filter(request.filter.matches)) } ?? .failed("down"), from: request.relay)
            }
        }
    }

    private func verdict(_ peer: Peer, _ events: [Event], now: UnixTime = now) -> KeyPackageVerdict? {
        var search = self.search([peer])
        return self.run(&search, [Self.home: events], now: now)[peer.key]?.verdict
    }

    private func changed(_ event: Event, content: String) -> Event {
        Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: event.tags,
            content: content, signature: event.signature)
    }

    // MARK: Verdicts

    @Test func prefersNewest30443OverNewest443() throws {
        var peer = try Peer(1)
        let old = peer.package(at: Self.now - 100)
        let new = peer.package(at: Self.now - 50)
        #expect(
            self.verdict(peer, [old.addressable, new.legacy])
                == .usable(
                    FoundKeyPackage(
                        event: old.addressable.id, kind: .addressableKeyPackage, createdAt: Self.now - 100,
                        supportsSelfRemove: true, generation: .v1, generations: [.v1])))
        guard case .usable(let found) = self.verdict(peer, [old.legacy, new.legacy]) else {
            Issue.record("expected a usable key package")
            return
        }
        #expect(found.event == new.legacy.id && found.kind == .keyPackage)
    }

    @Test func returnsVerdictForEachProblem() throws {
        var peer = try Peer(2)
        let event = peer.package().addressable
        #expect(self.verdict(peer, []) == .missing)
        #expect(self.verdict(peer, [event], now: Self.now + 90 * 86_400) == .expired)
        #expect(self.verdict(peer, [event], now: Self.now - 7200) == .notYetValid)
        #expect(KeyPackageVerdict.notYetValid.description.hasPrefix("not_yet_valid"))
        // The content differs from the signed one.
        #expect(self.verdict(peer, [self.changed(event, content: event.content + "A")]) == .badSignature)
        var forged = peer.bundle.keyPackage.encoded
        forged[forged.count - 1] ^= 1
        let forgery = UnsignedEvent(
            pubkey: peer.key, createdAt: Self.now, kind: event.kind, tags: event.tags, content: Base64.encode(forged)
        ).signed(by: peer.keys, using: &peer.random)
        #expect(self.verdict(peer, [forgery]) == .badSignature)
        let noise = UnsignedEvent(
            pubkey: peer.key, createdAt: Self.now, kind: event.kind, tags: event.tags, content: "AAAA"
        ).signed(by: peer.keys, using: &peer.random)
        guard case .malformed? = self.verdict(peer, [noise]) else {
            Issue.record("expected noise to be malformed")
            return
        }
        var impostor = try Peer(3, for: peer.key)
        #expect(self.verdict(impostor, [impostor.package().addressable]) == .wrongIdentity)
        // An older valid package is found behind newer invalid ones.
        let good = peer.package(at: Self.now - 10).legacy
        #expect(self.verdict(peer, [forgery, noise, good])?.isUsable == true)
    }

    @Test func prefersPackageCompatibleWithGroup() throws {
        var peer = try Peer(4)
        var random = SplitMix64(seed: 40)
        // As MDK 0.7 writes them: no SelfRemove.
        let legacy = try KeyPackageBundle.generate(
            peer.bundle.keyPackage.cipherSuite, credential: peer.bundle.keyPackage.leafNode.credential,
            capabilities: Capabilities(cipherSuites: [1], extensions: [0x000a, 0xf2ee]),
            lifetime: Lifetime(
                notBefore: UInt64((Self.now - 3600).seconds), notAfter: UInt64((Self.now + 86_400).seconds)),
            signatureKey: try SignaturePrivateKey.generate(peer.bundle.keyPackage.cipherSuite, using: &random),
            extensions: [Extension(type: .lastResort, data: [])], using: &random)
        let old = peer.package(at: Self.now, legacy.keyPackage)
        let founder = try Peer(5)
        var other = try Peer(6)
        let (group, _) = try MarmotGroup.create(
            GroupData(
                nostrGroupID: try #require(Bytes32([UInt8](repeating: 1, count: 32))), name: "new", description: "",
                admins: [founder.key], relays: [Self.home]), founder: founder.key,
            inviting: [try Invitee(other.package().addressable, now: Self.now)], client: "test", now: Self.now,
            using: &random)
        func verdict(_ events: [Event], for group: MarmotGroup?) -> KeyPackageVerdict? {
            var search = self.search([peer])
            for request in search.nextRequests() { search.receive(.events(events), from: request.relay) }
            return search.findings(for: group.map(AccountGroup.first), now: Self.now)[peer.key]?.verdict
        }
        guard case .usable(let found)? = verdict([old.addressable], for: nil) else {
            Issue.record("expected a new group to accept a package without SelfRemove")
            return
        }
        #expect(!found.supportsSelfRemove)
        guard case .incompatible? = verdict([old.addressable, old.legacy], for: group) else {
            Issue.record("expected incompatible packages, as the group requires SelfRemove")
            return
        }
        let able = peer.package(at: Self.now - 500).legacy
        guard case .usable(let fallback)? = verdict([old.addressable, able], for: group) else {
            Issue.record("expected the older package, which supports SelfRemove")
            return
        }
        #expect(fallback.event == able.id)
    }

    // MARK: Relays

    @Test func queriesRelaysNamedByPeer() throws {
        var peer = try Peer(7)
        let list = peer.list(.keyPackageRelays, [Self.far[0], Self.far[1]])
        let inbox = peer.list(.inboxRelays, [Self.far[2]])
        let package = peer.package().addressable
        var search = self.search([peer])
        let finding = self.run(&search, [Self.home: [list, inbox], Self.far[0]: nil, Self.far[1]: [package]])[peer.key]
        #expect(finding?.verdict.isUsable == true)
        #expect(finding?.relays[.v1] == [Self.far[2], Self.far[0], Self.far[1], Self.home])
    }

    @Test func unansweredIsNotMissing() throws {
        var peer = try Peer(8)
        let list = peer.list(.keyPackageRelays, [Self.far[0]])
        for (relays, expected) in [
            ([Self.home: nil], KeyPackageVerdict.noRelayAnswered),
            ([Self.home: []], .missing),
            // The relay that the peer names does not answer.
            ([Self.home: [list], Self.far[0]: nil], .noRelayAnswered),
            ([Self.home: [list], Self.far[0]: []], .missing),
            ([:], .noRelayAnswered),
        ] as [([RelayURL: [Event]?], KeyPackageVerdict)] {
            var search = self.search([peer])
            #expect(self.run(&search, relays)[peer.key]?.verdict == expected)
        }
        var homeless = self.search([peer]) { $0.relays = [] }
        #expect(self.run(&homeless, [:])[peer.key]?.verdict == .noRelayAnswered)
    }

    @Test func truncatesLongListsWithSharePerPeer() throws {
        var peers = try (10..<14).map { try Peer($0) }
        var events: [Event] = []
        for (index, _) in peers.enumerated() {
            events.append(peers[index].list(.keyPackageRelays, Self.far.dropFirst(index * 4).prefix(12)))
        }
        var search = self.search(peers) {
            $0.maximumPeerRelays = 3
            $0.maximumSearchRelays = 6
        }
        let home = search.nextRequests()
        #expect(home == [.init(relay: Self.home, peers: peers.map(\.key))])
        #expect(search.nextRequests().isEmpty)
        search.receive(.events(events), from: Self.home)
        let queried = search.nextRequests().map(\.relay)
        #expect(queried == [0, 4, 8, 12, 1, 5].map { Self.far[$0] })
        #expect(search.nextRequests().isEmpty)
    }

    @Test func ignoresForgedAndUnrelatedEvents() throws {
        var peer = try Peer(20)
        var stranger = try Peer(21)
        let forged = self.changed(peer.list(.keyPackageRelays, [Self.far[0]]), content: "forged")
        var search = self.search([peer])
        _ = search.nextRequests()
        search.receive(
            .events([stranger.package().addressable, stranger.list(.keyPackageRelays, [Self.far[1]]), forged]),
            from: Self.home)
        #expect(search.nextRequests().isEmpty)
        let findings = search.findings(for: nil, now: Self.now)
        #expect(findings.count == 1 && findings[peer.key]?.verdict == .missing)
        // A response from a relay that was not queried is ignored.
        search.receive(.events([peer.package().addressable]), from: Self.far[3])
        #expect(search.findings(for: nil, now: Self.now)[peer.key]?.verdict == .missing)
    }

    @Test func endsBeforeSlowRelaysOnceAllFound() throws {
        var peer = try Peer(22)
        let list = peer.list(.keyPackageRelays, [Self.far[0], Self.far[1]])
        var search = self.search([peer])
        _ = search.nextRequests()
        search.receive(.events([list, peer.package().addressable]), from: Self.home)
        #expect(search.nextRequests().map(\.relay) == [Self.far[0], Self.far[1]])
        // The relays that the peer names may have a newer package.
        let isOverBefore = search.isOver(for: nil, now: Self.now)
        search.receive(.events([]), from: Self.far[1])
        let isOverAfter = search.isOver(for: nil, now: Self.now)
        #expect(!isOverBefore && isOverAfter)
    }

    @Test func emptySearchEndsImmediately() {
        var search = self.search([])
        let requests = search.nextRequests()
        let isOver = search.isOver(for: nil, now: Self.now)
        #expect(requests.isEmpty && isOver)
    }
}
