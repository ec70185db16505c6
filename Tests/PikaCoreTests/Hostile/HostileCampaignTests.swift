import BotTesting
import Foundation
import Nostr
import Testing

@testable import PikaCore

/// One member, one admin, one relay and one stranger attack; the others stay in agreement, lose nothing that the
/// protocol can save, and stay within ``CampaignBounds``.
@Suite struct HostileCampaignTests {
    /// `PIKABOT_SEEDS=1000` runs the first 1000 seeds, `PIKABOT_SEEDS=17-17` only the failed one.
    static let seeds: ClosedRange<UInt64> = {
        let text = ProcessInfo.processInfo.environment["PIKABOT_SEEDS"] ?? "4"
        let bounds = text.split(separator: "-").compactMap { UInt64($0) }
        if bounds.count == 2, bounds[0] <= bounds[1] { return bounds[0]...bounds[1] }
        return 1...max(1, bounds.first ?? 5)
    }()

    private static let operations = 50

    @Test(arguments: Self.seeds)
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
