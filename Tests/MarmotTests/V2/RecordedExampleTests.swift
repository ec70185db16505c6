import Foundation
import MLS
import Nostr
import Testing

@testable import Marmot

/// Events and Welcomes that MDK 0.9.14 accepted or refused (see the README beside the recordings).
@Suite(.enabled(if: RecordedExamples.isPresent, "set MARMOT_V2_TRANSCRIPTS to the folder with the recorded v2 groups"))
struct RecordedExampleTests {
    @Test func acceptsExamplesAcceptedByMDK() throws {
        let examples = try RecordedExamples.load()
        #expect(!examples.accepted.isEmpty)
        for (name, example) in examples.accepted {
            let event = try example.event.event()
            // MDK's engine does not compare the author of the event; its app does.
            if name == "key package: event signed by someone else" {
                #expect(throws: KeyPackageFailure.self) { _ = try PublishedKeyPackage(event) }
            } else if name.hasPrefix("key package") {
                let announcement = try PublishedKeyPackage(event)
                let leaf = try V2Vectors.leaf(
                    announcement.keyPackage, components: announcement.support.components)
                #expect(try leaf.verify().signer == event.pubkey, "\(name)")
            } else if name.hasPrefix("kind 445") {
                _ = try GroupEnvelope(event)
            } else {
                _ = try WelcomeInvitation(#require(example.rumor).rumor())
            }
        }
    }

    /// These are refused by layers above: by keys that do not open them, by the group, or by MLS.
    private static let laterChecks: Set<String> = [
        "kind 445: h of another group", "kind 445: content random", "kind 445: last byte flipped",
        "key package: signature bit flipped", "key package: last byte flipped", "key package: identity bit flipped",
        "key package: account identity proof: identity byte flipped",
        "key package: account identity proof: signature byte flipped",
        "key package: fewer components, no media, no agent stream",
    ]

    @Test func refusesExamplesRefusedByMDK() throws {
        let examples = try RecordedExamples.load()
        #expect(!examples.refused.isEmpty)
        for (name, example) in examples.refused where !Self.laterChecks.contains(name) {
            let event = try example.event.event()
            #expect(throws: (any Error).self, "\(name)") {
                if name.hasPrefix("key package") {
                    _ = try PublishedKeyPackage(event)
                } else if name.hasPrefix("kind 445") {
                    _ = try GroupEnvelope(event)
                } else {
                    _ = try WelcomeInvitation(#require(example.rumor).rumor())
                }
            }
        }
    }

    @Test(arguments: ["0.9.14-basic", "0.9.14-settings", "0.9.14-membership", "0.9.14-minimal"])
    func readsRecordedGroups(name: String) throws {
        let group = try RecordedExamples.Group.load(name)
        for step in group.steps {
            for (key, hex) in step.state?.components ?? [:] {
                let id = try #require(TagCode.number(key))
                try ComponentRules.validate(id: id, data: try V2Vectors.bytes(hex))
            }
            guard let envelope = try? GroupEnvelope(step.event.event()) else { continue }
            let opened = try group.exporterSecrets.values.compactMap { secrets in
                try secrets["group-event"].flatMap { envelope.open(with: Secret(try V2Vectors.bytes($0))) }
            }
            if let message = step.mlsMessage { #expect(opened.map { Hex.encode($0) }.contains(message), "\(name)") }
            guard let payload = step.payload, let sender = step.sender else { continue }
            let read = try AppPayload(Array(payload.utf8), from: PublicKey(hex: sender))
            #expect(String(decoding: read.encoded, as: UTF8.self) == payload)
        }
        #expect(!group.steps.isEmpty)
    }
}

/// The recordings of MDK 0.9.14.
struct RecordedExamples: Decodable {
    struct Rumor: Decodable {
        let pubkey, content: String
        let createdAt: UnixTime
        let kind: UInt16
        let tags: [[String]]

        func rumor() throws -> UnsignedEvent {
            UnsignedEvent(
                pubkey: try PublicKey(hex: self.pubkey), createdAt: self.createdAt, kind: Kind(rawValue: self.kind),
                tags: self.tags.map { Tag(values: $0) }, content: self.content)
        }
    }

    struct Example: Decodable {
        let event: Transcript.EventJSON
        let rumor: Rumor?
    }

    struct Group: Decodable {
        struct Step: Decodable {
            struct State: Decodable { let components: [String: String]? }
            let event: Transcript.EventJSON
            let mlsMessage, payload, sender: String?
            let state: State?
        }

        let steps: [Step]
        let exporterSecrets: [String: [String: String]]

        static func load(_ name: String) throws -> Group { try RecordedExamples.decode(Group.self, name) }
    }

    let accepted, refused: [String: Example]

    static let directory: URL? = {
        let candidates = [
            ProcessInfo.processInfo.environment["MARMOT_V2_TRANSCRIPTS"].map { URL(fileURLWithPath: $0) },
            URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/v2-transcripts")
                .standardized,
        ]
        return candidates.compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("0.9.14-examples.json").path)
        }
    }()

    static var isPresent: Bool { self.directory != nil }

    static func load() throws -> RecordedExamples { try self.decode(RecordedExamples.self, "0.9.14-examples") }

    static func decode<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value {
        let data = try Data(contentsOf: try #require(self.directory).appendingPathComponent(name + ".json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Value.self, from: data)
    }
}
