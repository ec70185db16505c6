import Foundation
import TLSCodec
import Testing

@testable import MLS

/// Groups of MDK 0.9.14, replayed message by message.
@Suite(
    .enabled(
        if: RecordedGroups.transcripts != nil, "set MARMOT_V2_TRANSCRIPTS to the folder with the recorded v2 groups"))
struct RecordedTranscriptVectors {
    @Test(
        arguments: [
            "basic", "late-joiner", "leave-passive", "membership", "minimal", "mixed-app-false", "settings",
        ])
    func replaysRecordedGroup(_ name: String) throws {
        let transcript = try RecordedTranscript.load(name)
        var group = try transcript.join()
        transcript.check(group, transcript.welcome.state)
        var replayed = 0
        for step in transcript.steps {
            guard let message = step.mlsMessage else { continue }
            replayed += 1
            switch try group.process(MLSMessage(message.bytes), now: nil) {
            case .application(let application):
                #expect(String(decoding: application.data, as: UTF8.self) == step.payload)
            case .proposal: #expect(step.contentType == "proposal")
            case .commit(let staged): group = try #require(staged.next)
            }
            group = try RecordStore(whole: group).restored()
            transcript.check(group, step.state)
        }
        #expect(replayed > 2)
    }

    @Test func judgesOrderAsRecorded() throws {
        let transcript = try RecordedTranscript.load("order")
        var group = try transcript.join()
        for step in transcript.steps.prefix(while: { $0.label != "the message again" }) {
            guard let bytes = step.mlsMessage else { continue }
            let message = try MLSMessage(bytes.bytes)
            switch step.result {
            case "ignored": expectError(.keyConsumed) { _ = try group.process(message, now: nil) }
            case "transportdeferred":
                guard case .privateMessage(let content) = message else { continue }
                expectError(content.epoch > group.epoch ? .futureEpoch : .pastEpoch) {
                    _ = try group.process(message, now: nil)
                }
            default:
                switch try group.process(message, now: nil) {
                case .application(let application):
                    #expect(String(decoding: application.data, as: UTF8.self) == step.payload)
                case .proposal: Issue.record("step \(step.label): expected no proposal")
                case .commit(let staged): group = try #require(staged.next)
                }
            }
            transcript.check(group, step.state)
        }
        #expect(group.epoch == 9)
    }

    @Test(arguments: ["race-plain-winner-first", "race-plain-loser-first"])
    func keptStateReadsBothCommitsOfRace(_ name: String) throws {
        let transcript = try RecordedTranscript.load(name)
        let base = try transcript.join()
        let commits = transcript.steps.filter { $0.contentType == "commit" }.compactMap(\.mlsMessage)
        let branches = try commits.compactMap { try base.staging(MLSMessage($0.bytes), now: nil).next }
        #expect(branches.count == 2)
        let state = try #require(transcript.steps.last).state
        let winner = try #require(branches.first { $0.context.tlsEncoded() == state.groupContext.bytes.bytes })
        transcript.check(winner, state)
        for step in transcript.steps where step.contentType == "application" {
            let message = try MLSMessage(try #require(step.mlsMessage).bytes)
            #expect(String(decoding: try winner.reading(message).data, as: UTF8.self) == step.payload)
        }
    }
}

/// Groups of MDK 0.11.0 from the test vectors of another implementation.
@Suite(
    .enabled(if: RecordedGroups.vectors != nil, "set MARMOT_V2_VECTORS to the folder with the vectors of Marmot v2"))
struct RecordedGroupVectors {
    private struct PrivateKeys: Decodable {
        let initKeyPrivate, encryptionKeyPrivate, signatureKeyPrivateSeed: HexBytes
    }

    // MARK: Joining

    private struct AdoptedGroups: Decodable {
        struct Group: Decodable {
            struct Derived: Decodable { let epoch1ExporterGroupEvent, epoch1ExporterEncryptedMedia: HexBytes }
            let joinerKeyPackageMlsMessage, joinerKeyPackageRef, welcomeMlsMessage: HexBytes
            let groupContextExtensions, ratchetTree: HexBytes
            let joinerPrivate: PrivateKeys
            let derivedByUsNotInSource: Derived
        }

        let engineDefault, whiteNoiseApp: Group
    }

    @Test func joinsAdoptedGroups() throws {
        let file = try RecordedGroups.load(
            AdoptedGroups.self, "nostrc/adopted-groups.subset.json", in: RecordedGroups.vectors)
        for vector in [file.engineDefault, file.whiteNoiseApp] {
            let opened = try RecordedGroups.join(
                vector.welcomeMlsMessage.bytes, keyPackage: vector.joinerKeyPackageMlsMessage,
                initKey: vector.joinerPrivate.initKeyPrivate, encryptionKey: vector.joinerPrivate.encryptionKeyPrivate,
                signatureKey: vector.joinerPrivate.signatureKeyPrivateSeed)
            let group = opened.group
            #expect(opened.signer == LeafIndex(0) && group.epoch == 1)
            #expect(hex(group.encodedExtensions) == hex(vector.groupContextExtensions.bytes))
            #expect(group.encodedRatchetTree == vector.ratchetTree.bytes)
            #expect(
                group.recordedSecret("group-event") == vector.derivedByUsNotInSource.epoch1ExporterGroupEvent.secret)
            #expect(
                group.recordedSecret("encrypted-media")
                    == vector.derivedByUsNotInSource.epoch1ExporterEncryptedMedia.secret)
            let dictionary = try #require(try AppDataDictionary(in: group.extensions))
            #expect(AppDataDictionary(dictionary.values).asExtension == dictionary.asExtension)
            let required = try #require(try dictionary.list(of: .appComponents))
            for (_, leaf) in group.members { #expect(try required.firstMissing(in: leaf.components()) == nil) }
        }
    }

    // MARK: Commits

    private struct Recording: Decodable {
        struct Step: Decodable {
            let name, kind, eventJson: String
            let epochAfter: UInt64?
        }

        struct Derived: Decodable {
            let name: String
            let mlsMessage, commitDigest, outerKey, mediaExporter, groupContextExtensions: HexBytes?
            let hasPath: Bool?
            let inner: String?
        }

        let observerKeyPackageMlsMessage: HexBytes
        let observerPrivate: PrivateKeys
        let welcomeRumorJson: String
        let steps: [Step]
        let derivedByUsNotInSource: [Derived]

        func join() throws -> MLSGroup {
            let welcome = try RecordedGroupVectors.content(self.welcomeRumorJson)
            return try RecordedGroups.join(
                welcome, keyPackage: self.observerKeyPackageMlsMessage, initKey: self.observerPrivate.initKeyPrivate,
                encryptionKey: self.observerPrivate.encryptionKeyPrivate,
                signatureKey: self.observerPrivate.signatureKeyPrivateSeed
            ).group
        }
    }

    private struct AdoptedCommits: Decodable { let mdkEngine: Recording }
    private struct Forks: Decodable { let forks: Recording }

    private static func content(_ json: String) throws -> [UInt8] {
        struct Event: Decodable { let content: String }
        let event = try JSONDecoder().decode(Event.self, from: Data(json.utf8))
        return Array(try #require(Data(base64Encoded: event.content)))
    }

    /// The MLSMessage in a recorded event: a nonce, and a ciphertext under a key that the group exports.
    private static func message(_ step: Recording.Step, _ group: MLSGroup) throws -> [UInt8] {
        let content = try self.content(step.eventJson)
        return try ChaCha20Poly1305.open(
            Array(content.dropFirst(12)), key: group.recordedSecret("group-event"), nonce: Array(content.prefix(12)))
    }

    @Test func replaysAdoptedCommits() throws {
        let recording = try RecordedGroups.load(
            AdoptedCommits.self, "nostrc/adopted-commits.subset.json", in: RecordedGroups.vectors
        ).mdkEngine
        let derived = Dictionary(
            recording.derivedByUsNotInSource.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var group = try recording.join()
        for step in recording.steps {
            let expected = try #require(derived[step.name])
            let bytes = try Self.message(step, group)
            if let whole = expected.mlsMessage { #expect(bytes == whole.bytes) }
            if let digest = expected.commitDigest { #expect(SHA256Derivation.digest(bytes) == digest.bytes) }
            let message = try MLSMessage(bytes)
            #expect(message.tlsEncoded() == bytes)
            switch try group.process(message, now: nil) {
            case .application(let application):
                #expect(String(decoding: application.data, as: UTF8.self) == expected.inner)
                #expect(application.authenticatedData.isEmpty)
            case .proposal(let proposal):
                #expect(proposal.proposal == .selfRemove)
                #expect(
                    hex(proposal.reference) == "bc92818cda523ef5b082485c345684d1455f8d83ad9fc93f066cb376a4acca8a")
            case .commit(let staged):
                #expect(staged.changes.hasPath == expected.hasPath)
                group = try #require(staged.next)
                #expect(group.recordedSecret("group-event") == expected.outerKey?.secret)
                #expect(group.recordedSecret("encrypted-media") == expected.mediaExporter?.secret)
                if let extensions = expected.groupContextExtensions {
                    #expect(hex(group.extensions.flatMap { $0.tlsEncoded() }) == hex(extensions.bytes))
                }
            }
            if let epoch = step.epochAfter { #expect(group.epoch.rawValue == epoch) }
        }
        #expect(group.epoch == 9)
    }

    @Test func keptStateReadsBothCommitsOfFork() throws {
        let recording = try RecordedGroups.load(
            Forks.self, "nostrc/convergence-forks.json", in: RecordedGroups.vectors
        ).forks
        let digests = Set(recording.derivedByUsNotInSource.compactMap(\.commitDigest?.bytes))
        var group = try recording.join()
        var read = 0
        for step in recording.steps.prefix(3) {
            let bytes = try Self.message(step, group)
            let staged = try group.staging(MLSMessage(bytes), now: nil)
            #expect(staged.next?.epoch.rawValue == step.epochAfter)
            if step.name == "admin_change" {
                group = try #require(staged.next)
            } else {
                #expect(digests.contains(SHA256Derivation.digest(bytes)))
                read += 1
            }
        }
        #expect(read == 2)
    }
}
