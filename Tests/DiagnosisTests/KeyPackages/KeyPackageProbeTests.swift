import BotKit
import MLS
import Nostr
import PikaCore
import ProbeReports
import Synchronization
import Testing

@testable import Diagnosis

@Suite struct KeyPackageProbeTests {
    private static let now = KeyPackageMaker.now
    private static let day: Int64 = 86_400
    private let maker: KeyPackageMaker
    private let relays: [RelayURL]

    init() throws {
        maker = try KeyPackageMaker()
        relays = try (1...4).map { try RelayURL("wss://relay\($0).example") }
    }

    /// Probes relays that hold these events; other relays do not answer.
    private func report(
        _ held: [RelayURL: [Event]], home: [RelayURL]? = nil, queried: QueriedRelays = QueriedRelays(),
        objection: @escaping KeyPackageProbe.Objection = { _ in nil }
    ) async -> KeyPackageReport {
        let probe = KeyPackageProbe(home: home ?? Array(relays.prefix(2)), objection: objection) { filters, relays, _ in
            queried.add(relays)
            return Dictionary(
                uniqueKeysWithValues: relays.map { relay in
                    guard let events = held[relay] else { return (relay, .failed("no connection")) }
                    return (relay, .events(events.filter { event in filters.contains { $0.matches(event) } }))
                })
        }
        var generator = SystemRandomNumberGenerator()
        return await probe.run(
            // Long enough for a busy machine; nothing waits for it.
            KeyPackageProbeRequest(account: maker.keys.publicKey, timeout: .seconds(3600)), now: Self.now,
            using: &generator)
    }

    private func state(of events: [Event], beside others: [Event] = []) async -> RelayKeyPackageResult.State? {
        await report([relays[0]: events, relays[1]: others])[.v1].relays.first?.state
    }

    @Test func reportsEachRelayState() async throws {
        let good = try maker.good(at: Self.now - 10)
        #expect(await state(of: [good]) == .present)
        #expect(await state(of: []) == .missing)
        #expect(await state(of: [try maker.good(at: Self.now - 31 * Self.day)]) == .stale)
        #expect(await state(of: [good], beside: [try maker.good()]) == .superseded)
        #expect(await state(of: [try maker.legacy()]) == .legacy)
        #expect(await state(of: [try maker.good(at: Self.now - 90 * Self.day)]) == .invalid)
        // An event of another kind is not a newer version.
        #expect(await state(of: [good], beside: [try maker.legacy()]) == .present)
        #expect(await state(of: [good, try maker.legacy()]) == .present)
    }

    @Test func expiringPackageIsStale() async throws {
        var recipe = KeyPackageMaker.Recipe()
        recipe.lifetime.notAfter = UInt64((Self.now + 3 * Self.day).seconds)
        let event = maker.sign(maker.draft(try maker.package(recipe)))
        let holding = await report([relays[0]: [event]])[.v1].relays.first
        #expect(holding?.state == .stale && holding?.reason == "expires in 3 days")
    }

    @Test func unansweredRelayIsUnknown() async throws {
        let nothing = await report([:])
        #expect(nothing[.v1].relays.map(\.state) == [.unknown, .unknown])
        #expect(nothing[.v1].relays.first?.reason == "no connection")
        #expect(!nothing.hasAnswers && !nothing.isSuccess && nothing[.v1].invitation == nil)
        #expect(nothing.lists.allSatisfy { $0.problem == nil })
        #expect(nothing.verdict.hasPrefix("UNKNOWN"))
        let half = await report([relays[1]: [try maker.good()]])
        #expect(half[.v1].relays.map(\.state) == [.unknown, .present])
        #expect(half.isSuccess)
    }

    @Test func reportsSizeOfTrialInvitation() async throws {
        let report = await report([relays[0]: [try maker.good()]])
        #expect(report[.v1].invitation?.failure == nil && report[.v1].invitation?.supportsSelfRemove == true)
        #expect((2_000...20_000).contains(report[.v1].invitation?.wrapBytes ?? 0))
        #expect(report[.v1].isInviteable && report.isFindable(in: .v1))
        #expect(report.verdict.hasPrefix("GOOD"))
        #expect(!report.lines.joined().contains(maker.keys.publicKey.npub))
    }

    @Test func followsRelayLists() async throws {
        let queried = QueriedRelays()
        let stored = [
            relays[0]: [
                maker.list(.keyPackageRelays, relays[2], at: Self.now - 5), maker.list(.inboxRelays, relays[1]),
            ],
            relays[1]: [],
            // A newer list, which only this relay has, names another relay.
            relays[2]: [maker.list(.keyPackageRelays, relays[3])], relays[3]: [try maker.good()],
        ]
        let report = await report(stored, queried: queried)
        #expect(queried.rounds == [Set(relays.prefix(2)), [relays[2]], [relays[3]]])
        #expect(report[.v1].relays.map(\.relay) == relays)
        #expect(report[.v1].relays.map(\.state) == [.missing, .missing, .missing, .present])
        #expect(report[.v1].relays.map(\.isConfigured) == [true, true, false, false])
        #expect(report[.v1].relays.last?.lists == [.keyPackageRelays])
        #expect(report.lists.map(\.problem) == [nil, nil, nil])
        #expect(report.isSuccess)
    }

    @Test func reportsListWithoutKeyPackage() async throws {
        let report = await report([
            relays[0]: [maker.list(.keyPackageRelays, relays[2]), try maker.good()], relays[2]: [],
        ])
        #expect(report[.v1].isInviteable && !report.isFindable(in: .v1) && !report.isSuccess)
        #expect(report.lists.map { $0.problem != nil } == [true, true, false])
        #expect(report.verdict == "BAD: v1: list 10051: none of its relays has a valid key package")
    }

    @Test func ignoresEventsOfOtherAccounts() async throws {
        let stranger = try KeyPackageMaker()
        let report = await report([
            relays[0]: [try stranger.good(), stranger.list(.keyPackageRelays, relays[3])],
            relays[1]: [maker.list(.keyPackageRelays, relays[3]).forged()],
        ])
        #expect(report[.v1].relays.map(\.state) == [.missing, .missing])
    }

    @Test func boundsListedRelays() async throws {
        let queried = QueriedRelays()
        let many = try (1...100).map { try RelayURL("wss://many\($0).example") }
        let list = maker.sign(
            UnsignedEvent(
                pubkey: maker.keys.publicKey, createdAt: Self.now, kind: .keyPackageRelays,
                tags: many.map { Tag("relay", $0.string) }, content: ""))
        let report = await report([relays[0]: [list]], queried: queried) {
            $0.host == "many2.example" ? "not queried: it is private" : nil
        }
        #expect(report[.v1].relays.count == 2 + KeyPackageProbe.maximumListedRelays)
        #expect(!queried.all.contains(many[1]))
        #expect(report[.v1].relays.first { $0.relay == many[1] }?.reason == "not queried: it is private")
    }

    @Test func fallsBackToOlderValidPackage() async throws {
        let bad = maker.sign(maker.draft(try maker.package()).with("i", nil))
        let report = await report([relays[0]: [bad, try maker.legacy(at: Self.now - 50)]])
        #expect(report[.v1].relays.first?.state == .legacy)
        let alone = await self.report([relays[0]: [bad]])
        #expect(alone[.v1].relays.first?.state == .invalid)
        #expect(alone[.v1].relays.first?.package?.failedCheck == "reference")
        #expect(alone.verdict == "BAD: no relay has a usable key package")
    }
}

/// Records the queried relays of each round.
final class QueriedRelays: Sendable {
    private let state = Mutex<[Set<RelayURL>]>([])

    var rounds: [Set<RelayURL>] { state.withLock { $0 } }
    var all: Set<RelayURL> { rounds.reduce(into: []) { $0.formUnion($1) } }
    func add(_ relays: [RelayURL]) { state.withLock { $0.append(Set(relays)) } }
}

extension Event {
    /// Returns a copy with another time, which its id and signature do not match.
    func forged() -> Event {
        Event(
            id: id, pubkey: pubkey, createdAt: createdAt + 1, kind: kind, tags: tags, content: content,
            signature: signature)
    }
}
