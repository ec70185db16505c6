import BotTesting
import Nostr
import Testing

@testable import PikaCore

/// The campaign of ``ConvergenceTests`` with groups of the second generation: when the faults end, all members of a group
/// agree, every message of the selected history is shown once by every member of its epoch, and every withdrawn one was
/// reported.
@Suite struct SettlementCampaignTests {
    @Test(arguments: CampaignSeeds.requested(orFirst: 2))
    func membersSettleAfterFaults(seed: UInt64) async throws {
        let run = try await RandomRun(seed: seed, groupProtocol: .v2)
        do {
            try await run.run(operations: 60)
            try await run.finish()
        } catch {
            Issue.record("seed \(seed): \(error)\n\(run.trace.joined(separator: "; "))")
            return
        }
        for chat in run.chats {
            let verdict = try await SettlementVerdict(run, in: chat)
            if !verdict.faults.isEmpty {
                Issue.record("seed \(seed): \(verdict.faults.prefix(8).joined(separator: "\n"))\(run.story(of: chat))")
            }
        }
    }
}
