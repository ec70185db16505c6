import BotTesting
import MLS
import Testing

@testable import Marmot
@testable import PikaCore

/// All events that our accounts send in a group that forks repeatedly. With `PIKABOT_V2_EXPORT`, the transcripts of all
/// accounts are written for the independent verifier (docs/testing.md).
@Suite struct ForkingRunTests {
    @Test(arguments: CampaignSeeds.requested(orFirst: GroupTranscript.folder == nil ? 2 : 20))
    func membersAgreeAfterForks(seed: UInt64) async throws {
        let run = try await ForkingRun(seed: seed)
        do {
            try await run.run(operations: 60)
            try await run.finish()
        } catch {
            Issue.record("seed \(seed): \(error)\n\(run.trace.joined(separator: "; "))")
            return
        }
        let first = try #require(try await run.members[0].secondGroup(of: run.chat)).tip
        for member in run.members {
            let group = try #require(try await member.secondGroup(of: run.chat))
            #expect(group.convergence.status == .settled, "seed \(seed): \(member.name)")
            #expect(
                group.tip.mls.epochAuthenticator == first.mls.epochAuthenticator,
                "seed \(seed): \(member.name) is in epoch \(group.tip.epoch), \(run.trace.joined(separator: "; "))")
            try await run.transcript(fromSeatOf: member).write()
        }
        #expect(first.epoch > 5, "seed \(seed)")
    }
}
