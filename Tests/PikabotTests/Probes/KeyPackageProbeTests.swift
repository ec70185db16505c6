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
        #expect(command.stale == 7 && command.relays.map(\.url.string) == ["wss://one.example"])
        for wrong in [[], ["alice"], [Self.npub, "--stale", "0"], [Self.npub, "--patience", "301"]] {
            #expect(throws: (any Error).self) { try Pikabot.ProbeCommand.parse(wrong) }
        }
    }

    @Test func reportsAsJSONAndText() throws {
        let (one, two) = (try RelayURL("wss://one.example"), try RelayURL("wss://two.example"))
        let event = try EventID(hex: String(repeating: "ab", count: 32))
        let package = ProbedKeyPackage(
            event: event, kind: .addressableKeyPackage, createdAt: 5, notBefore: 1, notAfter: 9, remarks: ["odd"])
        let report = KeyPackageReport(
            account: try PublicKey(parsing: Self.npub),
            relays: [
                RelayKeyPackageResult(
                    relay: one, isConfigured: true, lists: [.keyPackageRelays], state: .present, reason: "valid",
                    package: package),
                RelayKeyPackageResult(
                    relay: two, isConfigured: false, lists: [], state: .unknown, reason: "no connection"),
            ],
            lists: [
                PublishedRelayList(kind: .keyPackageRelays, relays: [one]),
                PublishedRelayList(kind: .inboxRelays, relays: nil, problem: "not found on any relay that answered"),
                PublishedRelayList(kind: .relayList, relays: nil),
            ],
            invitation: TrialInvitation(
                event: event, kind: .addressableKeyPackage, wrapBytes: 5000, supportsSelfRemove: false))
        #expect(
            report.lines == [
                "GOOD: the account can be found and invited; wss://two.example is unknown; list 10050 has a problem",
                "wss://one.example (on 10051): present: valid; odd", "wss://two.example: unknown: no connection",
                "list 10051 (key packages): wss://one.example",
                "list 10050 (invitations): not found on any relay that answered",
                "invitation: succeeded, with a gift wrap of 5000 bytes; the client is an older generation (MDK 0.7)",
            ])
        let json = report.json
        #expect(json["success"]?.bool == true && json["account"]?.string == Self.npub)
        #expect(json["relays"]?.array?.first?["package"]?["notAfter"]?.integer == 9)
        #expect(json["relays"]?.array?.last?["state"]?.string == "unknown")
        #expect(json["lists"]?.array?.last?["relays"] == .null)
        #expect(json["invitation"]?["wrapBytes"]?.integer == 5000)
    }

    @Test func listWithSilentRelaysFails() throws {
        let one = try RelayURL("wss://one.example")
        let report = KeyPackageReport(
            account: try PublicKey(parsing: Self.npub),
            relays: [
                RelayKeyPackageResult(relay: one, isConfigured: true, lists: [], state: .present, reason: "valid")
            ],
            lists: [
                PublishedRelayList(
                    kind: .keyPackageRelays, relays: [try RelayURL("wss://two.example")],
                    problem: "none of its relays answered")
            ], invitation: nil)
        #expect(!report.isFindable && !report.isSuccess)
        #expect(report.verdict == "BAD: list 10051: none of its relays answered")
    }
}
