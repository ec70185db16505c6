import BotTesting
import Foundation
import Nostr
import Testing

@testable import PikaCore

/// One member, one admin, one relay and one stranger attack; the others stay in agreement, lose nothing that the
/// protocol can save, and stay within ``CampaignBounds``.
@Suite struct HostileCampaignTests {
    private static let operations = 50

    @Test(arguments: CampaignSeeds.requested(orFirst: 2))
    func honestMembersStayInAgreement(seed: UInt64) async throws {
        let run = try await HostileRun(seed: seed)
        do {
            try await run.run(operations: Self.operations)
            try await run.finish()
            let verdict = try await CampaignVerdict(run)
            if ProcessInfo.processInfo.environment["SHOW_REASONS"] != nil { print(run.summary(verdict)) }
            if !verdict.faults.isEmpty {
                Issue.record("seed \(seed): \(verdict.faults.prefix(12).joined(separator: "\n"))\n\(run.story)")
            }
        } catch {
            Issue.record("seed \(seed): \(error)\n\(run.story)")
        }
    }

    @Test func seedRepeatsTheCampaign() async throws {
        func trace(_ seed: UInt64) async throws -> [String] {
            let run = try await HostileRun(seed: seed)
            try await run.run(operations: 12)
            return run.trace + run.lab.network.events(at: run.honestRelay).map(\.id.hex)
        }
        let first = try await trace(3)
        #expect(first == (try await trace(3)))
        #expect(first != (try await trace(4)))
    }
}
