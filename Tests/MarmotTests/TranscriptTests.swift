import MLS
import Nostr
import Testing

@testable import Marmot

/// Groups recorded from MDK, replayed with the joiner's private keys (see the README beside the recordings).
@Suite(.enabled(if: Transcript.isPresent, "set MDK_TRANSCRIPTS to the folder with the recorded MDK groups"))
struct TranscriptTests {
    @Test(arguments: ["0.7.0-basic", "0.8.0-basic", "0.8.0-membership"])
    func replaysRecordedGroupToRecordedState(name: String) throws {
        let transcript = try Transcript.load(name)
        var group = try transcript.join()
        try transcript.welcome.state.check(group)
        for (epoch, secrets) in transcript.exporterSecrets where epoch == String(group.epoch) {
            #expect(Hex.encode(MarmotProfile.mip.outerKey(group.mls).copyBytes()) == secrets["group-event"])
        }
        for step in transcript.steps {
            let event = try step.event.event()
            try event.verify()
            let disposition = group.ingest(event, now: transcript.madeAt)
            switch (step.result, disposition) {
            case ("application", .message(let message)):
                #expect(message.id.hex == step.rumor?.id)
                #expect(message.rumor.content == step.rumor?.content)
                #expect(message.rumor.pubkey.hex == step.sender)
            case ("commit", .commit(let report)):
                #expect(report.epochAfter.rawValue == step.state.epoch)
                #expect(report.committer.hex == transcript.people[step.by])
            default: Issue.record("step \(step.label): expected \(step.result), got \(disposition)")
            }
            try step.state.check(group)
            if let media = transcript.exporterSecrets[String(group.epoch)]?["encrypted-media"] {
                let secret = group.mls.export(label: "marmot", context: Array("encrypted-media".utf8), length: 32)
                #expect(Hex.encode(secret.copyBytes()) == media)
            }
        }
        #expect(!transcript.steps.isEmpty)
    }

    @Test(arguments: ["0.7.0-basic", "0.8.0-basic", "0.8.0-membership"])
    func storedGroupReplaysToTheSameState(name: String) throws {
        let transcript = try Transcript.load(name)
        var stored: [GroupRecord: Secret] = [:]
        var header = Secret([UInt8]())
        func store(_ group: inout MarmotGroup) throws -> MarmotGroup {
            let changes = group.drainChanges()
            if changes.mls.replacesAll { stored = [:] }
            for (name, content) in changes.mls.records { stored[name] = content }
            if let changed = changes.header { header = changed }
            return try MarmotGroup(header: header, records: stored, account: group.account)
        }
        var group = try transcript.join()
        group = try store(&group)
        for step in transcript.steps {
            _ = group.ingest(try step.event.event(), now: transcript.madeAt)
            group = try store(&group)
            try step.state.check(group)
        }
    }
}
