import Foundation
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// A group recorded from MDK, with the private keys of a joiner.
struct Transcript: Decodable {
    struct EventJSON: Decodable {
        let id, pubkey, content, sig: String
        let createdAt: UnixTime
        let kind: UInt16
        let tags: [[String]]

        func event() throws -> Event {
            Event(
                id: try EventID(hex: self.id), pubkey: try PublicKey(hex: self.pubkey), createdAt: self.createdAt,
                kind: Kind(rawValue: self.kind), tags: self.tags.map { Tag(values: $0) }, content: self.content,
                signature: try Signature(hex: self.sig))
        }
    }

    struct State: Decodable {
        struct Context: Decodable { let epoch: UInt64, treeHash, confirmedTranscriptHash: String? }
        let epoch: UInt64
        let name, description: String
        let admins, relays, members: [String]
        // MDK 0.7 does not expose the rest.
        let ratchetTree: String?
        let ownLeaf: UInt32?
        let groupContext: Context?

        func check(_ group: MarmotGroup) throws {
            #expect(group.epoch.rawValue == self.epoch)
            #expect(group.data.name == self.name)
            #expect(group.data.description == self.description)
            #expect(Set(group.data.admins.map(\.hex)) == Set(self.admins))
            #expect(Set(group.data.relays.map(\.string)) == Set(self.relays))
            #expect(Set(group.members.map(\.hex)) == Set(self.members))
            if let ratchetTree { #expect(Hex.encode(group.mls.encodedRatchetTree) == ratchetTree) }
            if let ownLeaf { #expect(group.mls.ownLeafIndex.rawValue == ownLeaf) }
            if let hash = self.groupContext?.treeHash { #expect(Hex.encode(group.mls.context.treeHash) == hash) }
            if let hash = self.groupContext?.confirmedTranscriptHash {
                #expect(Hex.encode(group.mls.context.confirmedTranscriptHash) == hash)
            }
        }
    }

    struct Step: Decodable {
        struct Rumor: Decodable { let id, content: String }
        let label, by, result: String
        let event: EventJSON
        let rumor: Rumor?
        let sender: String?
        let state: State
    }

    struct Joiner: Decodable {
        let seckey, keyPackage, initPrivate, encryptionPrivate, signaturePrivate: String
        /// Keyed by kind.
        let keyPackageEvents: [String: EventJSON]
    }

    struct WelcomePart: Decodable { let giftWrap: EventJSON, state: State }

    let madeAt: UnixTime
    let people: [String: String]
    let joiner: Joiner
    let welcome: WelcomePart
    let steps: [Step]
    let exporterSecrets: [String: [String: String]]

    static let directory: URL? = {
        let candidates = [
            ProcessInfo.processInfo.environment["MDK_TRANSCRIPTS"].map { URL(fileURLWithPath: $0) },
            URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../shared/mdk-transcripts")
                .standardized,
        ]
        return candidates.compactMap { $0 }.first {
            FileManager.default.fileExists(atPath: $0.appendingPathComponent("0.8.0-basic.json").path)
        }
    }()

    static var isPresent: Bool { self.directory != nil }

    static func load(_ name: String) throws -> Transcript {
        let data = try Data(contentsOf: try #require(self.directory).appendingPathComponent(name + ".json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Transcript.self, from: data)
    }

    func join() throws -> MarmotGroup {
        let keys = try KeyPair(parsing: self.joiner.seckey)
        let wrap = try self.welcome.giftWrap.event()
        let opened = try GiftWrap.unwrap(wrap, by: keys)
        let suite = CipherSuite.x25519AES128GCM
        func bytes(_ hex: String) throws -> [UInt8] { try #require(Hex.decode(hex)) }
        let bundle = KeyPackageBundle(
            keyPackage: try KeyPackage(tlsEncoded: bytes(self.joiner.keyPackage)),
            initKey: try HPKEPrivateKey(suite, bytes: bytes(self.joiner.initPrivate)),
            encryptionKey: try HPKEPrivateKey(suite, bytes: bytes(self.joiner.encryptionPrivate)),
            signatureKey: try SignaturePrivateKey(suite, bytes: bytes(self.joiner.signaturePrivate)))
        return try MarmotGroup.join(
            WelcomeEvents.read(opened.rumor), with: bundle, account: keys.publicKey)
    }
}
