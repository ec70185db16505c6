import BotKit
import MLS
import Marmot
import Nostr
import PikaCore
import ProbeReports
import Testing

@testable import Diagnosis

/// Probes of key packages of the second generation.
@Suite struct ComponentProbeTests {
    struct Damage: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// Nil if the key package is usable nevertheless.
        let check: KeyPackageCheck?
        /// Part of the expected remark, if the key package is usable.
        let remark: String
        let make: @Sendable (ComponentPackageMaker) throws -> Event

        /// A defect in the key package itself.
        static func recipe(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ change: @escaping @Sendable (inout ComponentPackageMaker.Recipe) -> Void
        ) -> Damage {
            Damage(testDescription: name, check: check, remark: remark) { maker in
                var recipe = ComponentPackageMaker.Recipe()
                change(&recipe)
                return maker.sign(try maker.draft(recipe))
            }
        }

        /// A defect in the event, applied before it is signed.
        static func event(
            _ name: String, _ check: KeyPackageCheck?, remark: String = "",
            _ change: @escaping @Sendable (UnsignedEvent) -> UnsignedEvent
        ) -> Damage {
            Damage(testDescription: name, check: check, remark: remark) { $0.sign(change(try $0.draft())) }
        }
    }

    private static let now = UInt64(KeyPackageMaker.now.seconds)

    static let damages: [Damage] = [
        .event("missing slot", .tags) { $0.with("d", nil) },
        .event("other protocol version", .tags) { $0.with("mls_protocol_version", ["1"]) },
        .event("components without the proof", .tags) { $0.with("app_components", ["0x8001"]) },
        .event("extensions that the leaf lacks", .tags) { $0.with("mls_extensions", ["0x0006", "0xf2ee"]) },
        .event("invalid Base64", .content) { $0.with(content: "***") },
        .event("truncated", .structure) { $0.damaging { $0.removeLast(5) } },
        .event("wrong reference", .reference) { $0.with("i", [String(repeating: "00", count: 32)]) },
        .event("dated ahead", .lifetime) { event in
            var event = event
            event.createdAt += 301
            return event
        },
        .recipe("expired", .lifetime) { $0.lifetime = Lifetime(notBefore: now - 7200, notAfter: now) },
        .recipe("lifetime too long", .lifetime) { $0.lifetime.notAfter += 1 },
        .recipe("proof of another key", .accountProof) { $0.provesKey = false },
        .recipe("no lifecycle component", .capabilities) { $0.components.removeAll { $0 == 0x800C } },
        .recipe("without streams", nil, remark: "extension 0xf2d1") { $0.extensions = [0x0006] },
        .recipe("no last_resort component", nil, remark: "last_resort") { $0.isLastResort = false },
        .event("short slot", nil, remark: "tag d") { $0.with("d", ["abcd"]) },
        .event("tag of the first generation", nil, remark: "encoding") { $0.with("encoding", ["base64"]) },
    ]

    private let first: KeyPackageMaker
    private let maker: ComponentPackageMaker
    private let relays: [RelayURL]

    init() throws {
        first = try KeyPackageMaker()
        maker = ComponentPackageMaker(keys: first.keys)
        relays = try (1...3).map { try RelayURL("wss://relay\($0).example") }
    }

    private func report(
        _ held: [RelayURL: [Event]], expecting expectation: ProtocolExpectation = .any
    ) async -> KeyPackageReport {
        let probe = KeyPackageProbe(home: Array(relays.prefix(2))) { filters, relays, _ in
            Dictionary(
                uniqueKeysWithValues: relays.map { relay in
                    guard let events = held[relay] else { return (relay, .failed("no connection")) }
                    return (relay, .events(events.filter { event in filters.contains { $0.matches(event) } }))
                })
        }
        var generator = SystemRandomNumberGenerator()
        return await probe.run(
            KeyPackageProbeRequest(
                account: first.keys.publicKey, expectation: expectation, timeout: .seconds(3600)),
            now: KeyPackageMaker.now, using: &generator)
    }

    // MARK: Checks

    @Test(arguments: damages) func failsTheRightCheck(_ damage: Damage) throws {
        let event = try damage.make(maker)
        #expect(ExaminedKeyPackage.generation(of: event) == .v2)
        let examined = ExaminedKeyPackage(event, as: .v2, now: KeyPackageMaker.now)
        #expect(examined.failure?.check == damage.check, "\(examined.problem ?? "usable")")
        let remarks = examined.remarks.joined(separator: "; ")
        #expect(damage.remark.isEmpty ? remarks.isEmpty : remarks.contains(damage.remark), "\(remarks)")
    }

    @Test(arguments: damages) func reportsEveryVerdict(_ damage: Damage) async throws {
        let held = [try damage.make(maker), maker.writeRelays(relays[0]), first.list(.inboxRelays, relays[0])]
        let report = await report([relays[0]: held, relays[1]: []], expecting: .v2)
        #expect(report[.v2].relays.first?.package?.failedCheck == damage.check?.rawValue)
        #expect(report.isSuccess == (damage.check == nil), "\(report.lines)")
    }

    // MARK: Finding and inviting

    @Test func invitesAccountOfSecondGeneration() async throws {
        let held = [try maker.good(), maker.writeRelays(relays[0], relays[1]), first.list(.inboxRelays, relays[0])]
        let report = await report([relays[0]: held, relays[1]: held])
        #expect(report.isSuccess && report.isSuccess(in: .v2) && !report.isSuccess(in: .v1))
        #expect(report[.v2].relays.map(\.state) == [.present, .present])
        #expect(report[.v2].relays.first?.lists == [.inboxRelays, .relayList])
        #expect(report[.v2].invitation?.failure == nil, "\(report.lines)")
        #expect(report[.v2].invitation?.supportsSelfRemove == true)
        #expect(report.lists.map(\.problem) == [nil, nil, nil])
        #expect(report.verdict == "GOOD: clients of v2 can find and invite the account")
    }

    @Test func secondGenerationNeedsBothLists() async throws {
        let package = try maker.good()
        let (writes, inbox) = (maker.writeRelays(relays[0]), first.list(.inboxRelays, relays[0]))
        let unlisted = await report([relays[0]: [package, inbox], relays[1]: []])
        #expect(unlisted.verdict == "BAD: v2: list 10002: not found on any relay that answered")
        let closed = await report([relays[0]: [package, writes], relays[1]: []])
        #expect(closed.verdict == "BAD: v2: list 10050: not found on any relay that answered")
        // The list of the first generation does not help.
        let former = await report([relays[0]: [package, inbox, first.list(.keyPackageRelays, relays[0])]])
        #expect(!former.isFindable(in: .v2))
    }

    @Test func reportsAbsenceOnWriteRelays() async throws {
        let lists = [maker.writeRelays(relays[2]), first.list(.inboxRelays, relays[0])]
        let report = await report([relays[0]: lists + [try maker.good()], relays[1]: [], relays[2]: []])
        #expect(report[.v2].relays.map(\.state) == [.present, .missing, .missing])
        #expect(report.verdict == "BAD: v2: list 10002: none of its relays has a valid key package")
        // The second relay is on no list, so it needs no key package.
        #expect(report.relevantRelays(.v2).map(\.relay) == [relays[0], relays[2]])
    }

    @Test func readsWriteRelaysOnly() async throws {
        let list = maker.sign(
            UnsignedEvent(
                pubkey: maker.keys.publicKey, createdAt: KeyPackageMaker.now, kind: .relayList,
                tags: [
                    Tag("r", relays[0].string, "read"), Tag("r", relays[1].string, "other"),
                    Tag("r", relays[2].string, "write"),
                ], content: ""))
        let report = await report([relays[0]: [list], relays[1]: [], relays[2]: []])
        #expect(report.list(.relayList)?.relays == [relays[2]])
    }

    // MARK: Both generations

    @Test func generationsDoNotHideEachOther() async throws {
        let lists = [
            maker.writeRelays(relays[0]), first.list(.inboxRelays, relays[0]), first.list(.keyPackageRelays, relays[0]),
        ]
        let both = [try first.good(), try first.legacy(), try maker.good()]
        let report = await report([relays[0]: lists + both, relays[1]: []], expecting: .both)
        #expect(report.isSuccess, "\(report.lines)")
        #expect(GroupGeneration.allCases.allSatisfy { report[$0].relays.first?.state == .present })
        // Old releases of MDK fail on the first generation's events of kind 30443.
        #expect(report[.v2].relays.first?.package?.remarks.contains { $0.contains("0.9.16") } == true)
    }

    @Test func firstGenerationInSameSlotHidesSecond() async throws {
        let older = try maker.good(at: KeyPackageMaker.now - 50)
        let newer = first.sign(first.draft(try first.package(), slot: ComponentPackageMaker.slot))
        let lists = [maker.writeRelays(relays[0], relays[1]), first.list(.inboxRelays, relays[0])]
        let report = await report([relays[0]: lists + [older], relays[1]: [newer]], expecting: .v2)
        #expect(report[.v2].relays.map(\.state) == [.hidden, .hidden])
        #expect(report[.v2].relays.first?.reason.contains("a key package of v1") == true)
        #expect(report[.v2].invitation == nil && !report.isSuccess)
        #expect(report[.v1].relays.map(\.state) == [.missing, .present])
    }

    @Test func newerInvalidPackageHidesOlder() async throws {
        let older = try maker.good(at: KeyPackageMaker.now - 50)
        let newer = maker.sign(try maker.draft().with("i", [String(repeating: "00", count: 32)]))
        let report = await report([relays[0]: [older], relays[1]: [newer]], expecting: .v2)
        #expect(report[.v2].relays.map(\.state) == [.hidden, .invalid])
        #expect(report[.v2].relays.first?.reason.contains("reference") == true)
        let other = try maker.good(slot: String(repeating: "ef", count: 32))
        let rescued = await self.report([relays[0]: [older, other], relays[1]: [newer]], expecting: .v2)
        #expect(rescued[.v2].relays.first?.state == .present)
    }

    @Test func newerPackageSupersedesOlder() async throws {
        let report = await report([
            relays[0]: [try maker.good(at: KeyPackageMaker.now - 50)], relays[1]: [try maker.good()],
        ])
        #expect(report[.v2].relays.map(\.state) == [.superseded, .present])
    }
}
