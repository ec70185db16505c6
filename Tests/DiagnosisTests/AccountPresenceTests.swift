import Diagnosis
import MLS
import Marmot
import Nostr
import Testing

@Suite struct AccountPresenceTests {
    private let now: UnixTime = 1_750_000_000
    private let keys: KeyPair
    private let one: RelayURL
    private let two: RelayURL

    init() throws {
        var generator = SystemRandomNumberGenerator()
        keys = KeyPair.generate(using: &generator)
        (one, two) = (try RelayURL("wss://one.example"), try RelayURL("wss://two.example"))
    }

    private func package(at time: UnixTime) throws -> Event {
        var generator = SystemRandomNumberGenerator()
        let bundle = try KeyPackageEvents.makeBundle(for: keys.publicKey, now: time, using: &generator)
        return KeyPackageEvents.events(
            for: bundle.keyPackage, slot: String(repeating: "ab", count: 32), relays: [one], client: "test", by: keys,
            now: time, using: &generator
        ).addressable
    }

    private func list(_ kind: Kind, _ relays: RelayURL..., at time: Int64 = 0) -> Event {
        var generator = SystemRandomNumberGenerator()
        return RelayListEvents.event(kind, relays: relays, by: keys, now: now + time, using: &generator)
    }

    private func judge(_ stored: [RelayURL: [Event]], hasRun: Bool = true) -> [Finding] {
        var findings = FindingList("account")
        AccountPresence.judge(
            keys.publicKey, stored: stored, relays: [one, two], hasRun: hasRun, now: now, into: &findings)
        return findings.all
    }

    @Test func acceptsCompletePresence() throws {
        let events = [try package(at: now), list(.keyPackageRelays, one, two), list(.inboxRelays, two, one)]
        #expect(judge([one: events, two: events]).map(\.level) == [.ok, .ok, .ok, .ok])
    }

    @Test func newAccountNeedsNoPublications() throws {
        #expect(judge([one: [], two: []], hasRun: false).map(\.level) == [.ok])
        #expect(judge([one: [], two: []]).map(\.level) == [.error, .error, .error, .error])
        #expect(judge([:]).isEmpty)
    }

    @Test func warnsOfExpiringKeyPackage() throws {
        let lifetime = Int64(KeyPackageEvents.lifetime)
        let lists = [list(.keyPackageRelays, one, two), list(.inboxRelays, one, two)]
        let old = try package(at: now - lifetime + 3 * 86_400)
        #expect(judge([one: lists + [old]]).first?.level == .warning)
        #expect(judge([one: lists + [old]]).first?.text.contains("expires in 3 days") == true)
        #expect(judge([one: lists + [try package(at: now - lifetime - 1)]]).first?.level == .error)
        // The newest counts.
        #expect(judge([one: lists + [old, try package(at: now)]]).first?.level == .ok)
    }

    @Test func ignoresListsOfOtherAccounts() throws {
        var generator = SystemRandomNumberGenerator()
        let other = KeyPair.generate(using: &generator)
        let foreign = RelayListEvents.event(.inboxRelays, relays: [one, two], by: other, now: now, using: &generator)
        let findings = judge([one: [try package(at: now), list(.keyPackageRelays, one, two), foreign]])
        #expect(findings.map(\.level) == [.ok, .ok, .error])
    }

    @Test func reportsListsWithOtherRelays() throws {
        let package = try package(at: now)
        let three = try RelayURL("wss://three.example")
        let stored = [one: [package, list(.keyPackageRelays, one), list(.inboxRelays, three)]]
        #expect(judge(stored).map(\.level) == [.ok, .warning, .error])
        // The newest list counts, wherever it is.
        let repaired = [list(.keyPackageRelays, one, two, at: 1), list(.inboxRelays, one, two, at: 1), package]
        #expect(judge([one: stored[one] ?? [], two: repaired]).map(\.level) == [.ok, .ok, .ok, .ok])
    }
}
