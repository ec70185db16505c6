import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Searches for peers that have key packages of the first generation, of the second, or of both.
@Suite struct BothGenerationsSearchTests {
    private static let now = ReducerWorld.start
    private static let home = ReducerWorld.relay
    private static let far: [RelayURL] = (0..<4).compactMap { try? RelayURL("ws://127.0.0.1:\(7000 + $0)") }
    private static let slot = String(repeating: "5c", count: 32)

    private typealias Lab = BothGenerationsSearchTests

    private struct Peer {
        let keys: KeyPair
        let device: DeviceKey
        var random: SplitMix64
        var key: PublicKey { self.keys.publicKey }

        init(_ seed: UInt64) throws {
            self.random = SplitMix64(seed: seed)
            self.keys = KeyPair.generate(using: &self.random)
            self.device = try DeviceKey.generate(for: self.keys, now: Lab.now, using: &self.random)
        }

        mutating func first(
            at time: UnixTime = Lab.now, slot: String = Lab.slot
        ) throws -> (addressable: Event, legacy: Event) {
            let bundle = try KeyPackageEvents.makeBundle(for: self.key, now: Lab.now, using: &self.random)
            return KeyPackageEvents.events(
                for: bundle.keyPackage, slot: slot, relays: [Lab.home], client: "test", by: self.keys, now: time,
                using: &self.random)
        }

        mutating func second(at time: UnixTime = Lab.now, slot: String = "second") throws -> Event {
            let bundle = try self.device.keyPackage(now: Lab.now, using: &self.random)
            return try DeviceKey.announcement(of: bundle.keyPackage, slot: slot).draft(by: self.key, now: time)
                .signed(by: self.keys, using: &self.random)
        }

        mutating func list(_ relays: [RelayURL]) -> Event {
            RelayList(read: relays, write: relays).unsigned(by: self.key, now: Lab.now)
                .signed(by: self.keys, using: &self.random)
        }
    }

    private func search(
        _ peers: [Peer], for purpose: KeyPackageSearch.Purpose = .report
    ) -> KeyPackageSearch {
        KeyPackageSearch(peers.map(\.key), CoreConfiguration(relays: [Self.home]), for: purpose)
    }

    /// The finding about a peer whose events are on the home relay.
    private func finding(_ peer: Peer, _ events: [Event]) -> KeyPackageFinding? {
        var search = self.search([peer])
        for request in search.nextRequests() { search.receive(.events(events), from: request.relay) }
        return search.findings(for: nil, now: Self.now)[peer.key]
    }

    // MARK: Verdicts

    @Test func reportsSecondGenerationFirst() throws {
        var peer = try Peer(1)
        let (first, second) = (try peer.first(), try peer.second(at: Self.now - 100))
        let finding = try #require(self.finding(peer, [first.addressable, first.legacy, second]))
        #expect(finding.generations == [.v1, .v2])
        guard case .usable(let found) = finding.verdict, case .usable(let older) = finding.verdict(in: .v1) else {
            Issue.record("expected usable packages, found \(finding.verdict)")
            return
        }
        #expect(found.event == second.id && found.generation == .v2 && found.supportsSelfRemove)
        #expect(older.event == first.addressable.id && older.generation == .v1 && older.generations == [.v1, .v2])
        #expect(finding.verdict.description == "usable (v2, kind 30443)")
    }

    @Test func generationsDoNotHideEachOther() throws {
        var peer = try Peer(2)
        let second = try peer.second(at: Self.now - 100)
        // Many newer packages of one generation leave room for one of the other.
        let firsts = try (0..<30).map { try peer.first(at: Self.now - 50 + Int64($0), slot: "\($0)").addressable }
        let finding = try #require(self.finding(peer, firsts + [second]))
        #expect(finding.verdict(in: .v2).isUsable)
        let seconds = try (0..<30).map { try peer.second(at: Self.now - 50 + Int64($0), slot: "\($0)") }
        let other = try #require(self.finding(peer, seconds + [try peer.first(at: Self.now - 100).addressable]))
        #expect(other.verdict(in: .v1).isUsable)
    }

    @Test func onlyPackagesOfItsGenerationAreProblems() throws {
        var peer = try Peer(3)
        let first = try peer.first()
        let finding = try #require(self.finding(peer, [first.addressable, first.legacy]))
        #expect(finding.generations == [.v1] && finding.verdict(in: .v2) == .missing)
        #expect(finding.verdict.isUsable)
        let second = try peer.second()
        let other = try #require(self.finding(peer, [second]))
        #expect(other.generations == [.v2] && other.verdict(in: .v1) == .missing)
    }

    @Test func newerPackageReplacesOlderInItsSlot() throws {
        var peer = try Peer(4)
        let (old, bad) = (try peer.second(at: Self.now - 100), try peer.second(at: Self.now))
        let damaged = UnsignedEvent(
            pubkey: peer.key, createdAt: bad.createdAt, kind: bad.kind, tags: bad.tags.filter { $0.name != "i" },
            content: bad.content
        ).signed(by: peer.keys, using: &peer.random)
        let finding = try #require(self.finding(peer, [old, damaged]))
        guard case .malformed = finding.verdict else {
            Issue.record("expected the newest package to count, found \(finding.verdict)")
            return
        }
        // Another slot is not affected.
        let other = try peer.second(at: Self.now - 100, slot: "other")
        #expect(self.finding(peer, [old, damaged, other])?.second?.event.id == other.id)
    }

    // MARK: Relays

    @Test func findsSecondGenerationOnWriteRelays() throws {
        var peer = try Peer(5)
        let (list, second) = (peer.list([Self.far[0]]), try peer.second())
        let inbox = RelayListEvents.event(
            .inboxRelays, relays: [Self.far[1]], by: peer.keys, now: Self.now, using: &peer.random)
        var search = self.search([peer], for: .invitation(.v2))
        _ = search.nextRequests()
        search.receive(.events([list, inbox]), from: Self.home)
        #expect(search.nextRequests().map(\.relay) == [Self.far[0]])
        search.receive(.events([second]), from: Self.far[0])
        let findings = search.findings(for: nil, now: Self.now)
        #expect(findings[peer.key]?.relays[.v2] == [Self.far[1], Self.far[0]])
        #expect(findings[peer.key]?.second?.event == second)
        // Searches for the first generation do not ask these relays.
        var other = self.search([peer], for: .invitation(.v1))
        _ = other.nextRequests()
        other.receive(.events([list, inbox]), from: Self.home)
        #expect(other.nextRequests().isEmpty)
    }

    @Test func autoWaitsForFirstGenerationIfNeeded() throws {
        var (both, old) = (try Peer(6), try Peer(7))
        let firstList = RelayListEvents.event(
            .keyPackageRelays, relays: [Self.far[0]], by: old.keys, now: Self.now, using: &old.random)
        let second = try both.second()
        var search = self.search([both], for: .invitation(.auto))
        _ = search.nextRequests()
        search.receive(.events([second]), from: Self.home)
        let isOver = search.isOver(for: nil, now: Self.now)
        #expect(isOver)
        // A peer whose list names a relay that has not answered yet.
        var mixed = self.search([both, old], for: .invitation(.auto))
        _ = mixed.nextRequests()
        mixed.receive(.events([second, try both.first().legacy, firstList]), from: Self.home)
        _ = mixed.nextRequests()
        let isOverBefore = mixed.isOver(for: nil, now: Self.now)
        mixed.receive(.events([try old.first().legacy]), from: Self.far[0])
        let isOverAfter = mixed.isOver(for: nil, now: Self.now)
        #expect(!isOverBefore && isOverAfter)
    }

    // MARK: The choice

    /// The findings about three peers: with both generations, with the first only, and with the second only.
    private func findings() throws -> (peers: [PublicKey], findings: [PublicKey: KeyPackageFinding]) {
        var (both, first, second) = (try Peer(8), try Peer(9), try Peer(10))
        let events = [
            both.key: [try both.first().legacy, try both.second()], first.key: [try first.first().legacy],
            second.key: [try second.second()],
        ]
        let peers = [both, first, second]
        let findings = Dictionary(
            uniqueKeysWithValues: try peers.map { peer in
                (peer.key, try #require(self.finding(peer, events[peer.key] ?? [])))
            })
        return (peers.map(\.key), findings)
    }

    @Test func autoPrefersSecondGenerationForAll() throws {
        let (peers, findings) = try self.findings()
        for (invited, expected) in [([0], GroupGeneration.v2), ([0, 2], .v2), ([0, 1], .v1), ([1], .v1)] {
            let keys = invited.map { peers[$0] }
            let choice = try InviteeChoice(
                keys, findings.filter { keys.contains($0.key) }, .auto, proceedsWithout: false)
            #expect(choice.invitees.generation == expected && choice.invitees.identities == keys)
            #expect(choice.left.isEmpty)
        }
        let nobody = try InviteeChoice([], [:], .auto, proceedsWithout: false)
        #expect(nobody.invitees.generation == .v2)
    }

    @Test func namesMissingGenerationOfPeers() throws {
        let (peers, findings) = try self.findings()
        let error = #expect(throws: AppCoreError.self) {
            try InviteeChoice(peers, findings, .auto, proceedsWithout: false)
        }
        #expect(error?.code == .noKeyPackage && error?.peers == [peers[1]: .missing, peers[2]: .missing])
        #expect(
            error?.message
                == "no protocol generation suits all peers; v2: \(peers[1].npub): no key package on its relays; "
                + "v1: \(peers[2].npub): no key package on its relays")
        // A chosen generation names only those who lack it.
        let second = #expect(throws: AppCoreError.self) {
            try InviteeChoice(peers, findings, .v2, proceedsWithout: false)
        }
        #expect(second?.peers == [peers[1]: .missing])
    }

    @Test func proceedsInGenerationOfMost() throws {
        let (peers, findings) = try self.findings()
        let even = try InviteeChoice(peers, findings, .auto, proceedsWithout: true)
        #expect(even.invitees.generation == .v2 && even.invitees.identities == [peers[0], peers[2]])
        #expect(even.left == [peers[1]: .missing])
        let without = findings.filter { $0.key != peers[2] }
        let choice = try InviteeChoice([peers[0], peers[1]], without, .v2, proceedsWithout: true)
        #expect(choice.invitees.identities == [peers[0]] && choice.left == [peers[1]: .missing])
    }
}
