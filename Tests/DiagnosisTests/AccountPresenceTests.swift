import BotKit
import Diagnosis
import MLS
import Marmot
import Nostr
import PikaCore
import Testing

@Suite struct AccountPresenceTests {
    private let now: UnixTime = 1_750_000_000
    private let keys: KeyPair
    private let device: DeviceKey
    private let one: RelayURL
    private let two: RelayURL

    init() throws {
        var generator = SystemRandomNumberGenerator()
        keys = KeyPair.generate(using: &generator)
        device = try DeviceKey.generate(for: keys, now: now, using: &generator)
        (one, two) = (try RelayURL("wss://one.example"), try RelayURL("wss://two.example"))
    }

    private func package(at time: UnixTime, slot: String = String(repeating: "ab", count: 32)) throws -> Event {
        var generator = SystemRandomNumberGenerator()
        let bundle = try KeyPackageEvents.makeBundle(for: keys.publicKey, now: time, using: &generator)
        return KeyPackageEvents.events(
            for: bundle.keyPackage, slot: slot, relays: [one], client: "test", by: keys,
            now: time, using: &generator
        ).addressable
    }

    /// Returns a key package of the second generation.
    private func second(at time: UnixTime) throws -> Event {
        var generator = SystemRandomNumberGenerator()
        let bundle = try device.keyPackage(now: time, using: &generator)
        return try DeviceKey.announcement(of: bundle.keyPackage, slot: String(repeating: "cd", count: 32))
            .draft(by: keys.publicKey, now: time).signed(by: keys, using: &generator)
    }

    private func packages() throws -> [Event] { [try package(at: now), try second(at: now)] }

    private func list(_ kind: Kind, _ relays: RelayURL..., at time: Int64 = 0) -> Event {
        var generator = SystemRandomNumberGenerator()
        guard kind == .relayList else {
            return RelayListEvents.event(kind, relays: relays, by: keys, now: now + time, using: &generator)
        }
        return RelayList(read: relays, write: relays).unsigned(by: keys.publicKey, now: now + time)
            .signed(by: keys, using: &generator)
    }

    private func lists() -> [Event] {
        [list(.relayList, one, two), list(.keyPackageRelays, one, two), list(.inboxRelays, one, two)]
    }

    private func judge(_ stored: [RelayURL: [Event]], hasRun: Bool = true) -> [Finding] {
        var findings = FindingList("account")
        AccountPresence.judge(
            keys.publicKey, stored: stored, relays: [one, two], hasRun: hasRun, now: now, into: &findings)
        return findings.all
    }

    /// Returns the levels of the findings of one check.
    private func levels(_ check: String, _ findings: [Finding]) -> [Finding.Level] {
        findings.filter { $0.check == check }.map(\.level)
    }

    @Test func acceptsCompletePresence() throws {
        let events = try packages() + lists()
        let findings = judge([one: events, two: events])
        #expect(findings.allSatisfy { $0.level == .ok }, "\(findings)")
        #expect(
            findings.map(\.check) == [
                "key package v1", "key package v1", "key package v2", "key package v2", "relay lists", "relay lists",
                "relay lists", "invitations v1", "invitations v2",
            ])
    }

    @Test func newAccountNeedsNoPublications() throws {
        #expect(judge([one: [], two: []], hasRun: false).map(\.level) == [.ok])
        let findings = judge([one: [], two: []])
        #expect(findings.count == 9 && findings.allSatisfy { $0.level == .error })
        #expect(judge([:]).isEmpty)
    }

    @Test func warnsOfExpiringKeyPackages() throws {
        let lifetime = Int64(KeyPackageEvents.lifetime)
        let old = now - lifetime + 3 * 86_400
        for (check, package) in [("key package v1", try package(at: old)), ("key package v2", try second(at: old))] {
            let finding = judge([one: lists() + [package]]).first { $0.check == check }
            #expect(finding?.level == .warning)
            #expect(finding?.text.contains("expires in 3 days") == true)
        }
        let expired = [try package(at: now - lifetime - 1), try second(at: now - lifetime - 1)]
        let findings = judge([one: lists() + expired])
        #expect(levels("key package v1", findings) == [.error])
        #expect(levels("key package v2", findings) == [.error])
        // The newest counts.
        let renewed = judge([one: lists() + [try package(at: old), try package(at: now)]])
        #expect(levels("key package v1", renewed) == [.ok])
    }

    @Test func judgesEachGenerationByItself() throws {
        let former = judge([one: lists() + [try package(at: now)]])
        #expect(levels("invitations v1", former) == [.ok])
        #expect(levels("invitations v2", former) == [.error])
        let current = judge([one: lists() + [try second(at: now)]])
        #expect(levels("invitations v1", current) == [.error])
        #expect(levels("invitations v2", current) == [.ok])
        // Without list 10002, only clients of v1 find the account.
        let unlisted = judge([
            one: try packages() + [list(.keyPackageRelays, one, two), list(.inboxRelays, one, two)]
        ])
        #expect(levels("invitations v1", unlisted) == [.ok])
        let finding = unlisted.first { $0.check == "invitations v2" }
        #expect(finding?.level == .error && finding?.text.contains("list 10002 is missing or empty") == true)
        // Without list 10050, clients of v2 do not know where to send an invitation; those of v1 have other relays.
        let closed = judge([one: try packages() + lists().dropLast()])
        #expect(levels("invitations v1", closed) == [.ok])
        #expect(levels("invitations v2", closed) == [.error])
    }

    @Test func reportsHiddenKeyPackage() throws {
        let usurper = try package(at: now + 10, slot: String(repeating: "cd", count: 32))
        let findings = judge([one: lists() + [try second(at: now)], two: lists() + [usurper]])
        #expect(levels("key package v2", findings) == [.error, .error])
        #expect(levels("invitations v2", findings) == [.error])
        let texts = findings.filter { $0.check == "key package v2" }.map(\.text)
        #expect(texts.allSatisfy { $0.contains("a key package of v1") }, "\(texts)")
    }

    @Test func namesRelaysWithoutList() throws {
        let events = try packages() + lists()
        let findings = judge([one: events, two: events.filter { $0.kind != .relayList }])
        let warnings = findings.filter { $0.level == .warning }
        #expect(warnings.map(\.check) == ["relay lists"])
        #expect(warnings.first?.text.contains("(kind 10002) is missing on wss://two.example") == true)
    }

    @Test func ignoresListsOfOtherAccounts() throws {
        var generator = SystemRandomNumberGenerator()
        let other = KeyPair.generate(using: &generator)
        let foreign = RelayListEvents.event(.inboxRelays, relays: [one, two], by: other, now: now, using: &generator)
        let findings = judge([one: try packages() + lists().dropLast() + [foreign]])
        #expect(levels("relay lists", findings) == [.ok, .ok, .error])
    }

    @Test func reportsListsWithOtherRelays() throws {
        let packages = try packages()
        let three = try RelayURL("wss://three.example")
        let stored = [
            one: packages + [list(.relayList, one, two), list(.keyPackageRelays, one), list(.inboxRelays, three)]
        ]
        #expect(levels("relay lists", judge(stored)) == [.ok, .warning, .error])
        // The newest list counts, wherever it is.
        let repaired = [list(.keyPackageRelays, one, two, at: 1), list(.inboxRelays, one, two, at: 1)]
        let later = judge([one: stored[one] ?? [], two: packages + repaired + [list(.relayList, one, two)]])
        #expect(levels("relay lists", later) == [.ok, .ok, .ok])
    }
}
