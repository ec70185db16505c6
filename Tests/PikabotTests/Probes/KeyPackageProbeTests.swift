import ArgumentParser
import BotKit
import ProbeReports
import Testing

@testable import BotProgram
@testable import pikabot

@Suite struct KeyPackageProbeTests {
    private static let npub = "npub10000003zmk89narqpczy4ff6rnuht2wu05na7kpnh3mak7z2tqzsv8vwqk"

    @Test func commandAcceptsAccounts() throws {
        let command = try Pikabot.ProbeCommand.parse([Self.npub, "--relay", "wss://one.example", "--stale", "7"])
        #expect(command.expectation == nil && command.stale == 7)
        #expect(command.relays.map(\.url.string) == ["wss://one.example"])
        #expect(try Pikabot.ProbeCommand.parse([Self.npub, "--protocol", "both"]).expectation == .both)
        for wrong in [
            [], ["alice"], [Self.npub, "--stale", "0"], [Self.npub, "--patience", "301"],
            [Self.npub, "--protocol", "v3"],
        ] {
            #expect(throws: (any Error).self) { try Pikabot.ProbeCommand.parse(wrong) }
        }
    }

    @Test func reportsAsJSONAndText() throws {
        let (one, two) = (try RelayURL("wss://one.example"), try RelayURL("wss://two.example"))
        let event = try EventID(hex: String(repeating: "ab", count: 32))
        let package = ProbedKeyPackage(
            event: event, kind: .addressableKeyPackage, createdAt: 5, notBefore: 1, notAfter: 9, remarks: ["odd"])
        let first = GenerationReport(
            relays: [
                RelayKeyPackageResult(
                    relay: one, isConfigured: true, lists: [.keyPackageRelays], state: .present, reason: "valid",
                    package: package),
                RelayKeyPackageResult(
                    relay: two, isConfigured: false, lists: [], state: .unknown, reason: "no connection"),
            ],
            invitation: TrialInvitation(
                event: event, kind: .addressableKeyPackage, wrapBytes: 5000, supportsSelfRemove: false))
        let report = KeyPackageReport(
            account: try PublicKey(parsing: Self.npub), generations: [.v1: first],
            lists: [
                PublishedRelayList(kind: .keyPackageRelays, relays: [one]),
                PublishedRelayList(kind: .inboxRelays, relays: nil, problem: "not found on any relay that answered"),
                PublishedRelayList(kind: .relayList, relays: nil),
            ])
        #expect(
            report.lines == [
                "GOOD: clients of v1 can find and invite the account; v1 on wss://two.example is unknown; "
                    + "list 10050 has a problem",
                "v1 wss://one.example (on 10051): present: valid; odd",
                "v1 wss://two.example: unknown: no connection",
                "v1 invitation: succeeded, with a gift wrap of 5000 bytes; the client does not support leaving a group "
                    + "(SelfRemove)",
                "v2: no key package", "list 10051 (key packages of v1): wss://one.example",
                "list 10050 (invitations): not found on any relay that answered",
            ])
        let json = report.json
        #expect(json["success"]?.bool == true && json["account"]?.string == Self.npub)
        let (v1, v2) = (json["protocols"]?["v1"], json["protocols"]?["v2"])
        #expect(v1?["success"]?.bool == true && v2?["success"]?.bool == false)
        #expect(v1?["relays"]?.array?.first?["package"]?["notAfter"]?.integer == 9)
        #expect(v1?["relays"]?.array?.last?["state"]?.string == "unknown")
        #expect(v1?["invitation"]?["wrapBytes"]?.integer == 5000)
        #expect(v2?["invitation"] == .null)
        #expect(json["lists"]?.array?.last?["relays"] == .null)
    }

    @Test func expectedGenerationDecides() throws {
        let one = try RelayURL("wss://one.example")
        let event = try EventID(hex: String(repeating: "ab", count: 32))
        let second = GenerationReport(
            relays: [
                RelayKeyPackageResult(
                    relay: one, isConfigured: true, lists: [.relayList], state: .present, reason: "valid")
            ], invitation: TrialInvitation(event: event, kind: .addressableKeyPackage, supportsSelfRemove: true))
        var report = KeyPackageReport(
            account: try PublicKey(parsing: Self.npub), generations: [.v1: GenerationReport(), .v2: second],
            lists: [
                PublishedRelayList(kind: .inboxRelays, relays: [one]),
                PublishedRelayList(kind: .relayList, relays: [one]),
            ])
        for (expectation, isGood) in [(ProtocolExpectation.any, true), (.v2, true), (.v1, false), (.both, false)] {
            report.expectation = expectation
            #expect(report.isSuccess == isGood, "\(expectation)")
        }
        #expect(report.verdict == "BAD: v1: no relay has a usable key package")
        report.expectation = .v2
        // Clients of v2 need both lists.
        report.lists[0] = PublishedRelayList(kind: .inboxRelays, relays: nil, problem: "missing")
        #expect(report.verdict == "BAD: v2: list 10050: missing")
        report.lists[1] = PublishedRelayList(kind: .relayList, relays: nil, problem: "missing")
        #expect(report.verdict == "BAD: v2: list 10002: missing; v2: list 10050: missing")
    }

    @Test func listWithSilentRelaysFails() throws {
        let one = try RelayURL("wss://one.example")
        let report = KeyPackageReport(
            account: try PublicKey(parsing: Self.npub),
            generations: [
                .v1: GenerationReport(relays: [
                    RelayKeyPackageResult(relay: one, isConfigured: true, lists: [], state: .present, reason: "valid")
                ])
            ],
            lists: [
                PublishedRelayList(
                    kind: .keyPackageRelays, relays: [try RelayURL("wss://two.example")],
                    problem: "none of its relays answered")
            ])
        #expect(!report.isFindable(in: .v1) && !report.isSuccess)
        #expect(report.verdict == "BAD: v1: list 10051: none of its relays answered")
    }
}
