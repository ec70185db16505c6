@testable import MLS
@testable import Marmot
@testable import Nostr

extension Target {
    /// Values of the second generation: components, which must be canonical, and the contents of events.
    static func secondGeneration(_ world: World) throws -> Target {
        let author = world.rumor.pubkey
        let hash = try self.requireValue(Bytes32([UInt8](repeating: 7, count: 32)))
        let file = try AttachmentReference(
            locators: [.blossom("https://a.example/x")], blobHash: hash, hash: hash,
            nonce: [UInt8](repeating: 1, count: 12), type: CanonicalMediaType("image/png"), filename: "a")
        let push = Array(
            #"{"v":"marmot-push-v1","removals":[{"leaf_index":1,"platform":"fcm","owner_ts":1}]}"#.utf8)
        return Target(
            "second-generation",
            [
                self.canonical(try GroupProfileState(name: "n", description: "d")),
                self.canonical(BlossomImage(nil)), self.canonical(try AdminPolicy([author])),
                self.canonical(try NostrRouting(nostrGroupID: hash, relays: ["wss://a.example", "ws://[::1]/?q"])),
                self.canonical(MessageRetention(seconds: 1)), self.canonical(try AgentTextStream()),
                self.canonical(try AvatarURL(url: "https://a.example/p")),
                self.canonical(try EncryptedMediaPolicy(blossomServers: ["https://a.example"])),
                self.canonical(GroupLifecycle.active),
                Reader(["https://u@0x7f.1:443/a/../%2e?q#f", "wss://[1::2]/"].map { Array($0.utf8) }) { bytes in
                    guard let normal = WebURL(String(decoding: bytes, as: UTF8.self))?.normalized else { return }
                    precondition(WebURL(normal)?.normalized == normal, "a normal form must be stable")
                },
                Reader([AppPayload(world.rumor).encoded]) { bytes in
                    let payload = try AppPayload(bytes, from: author)
                    let again = try AppPayload(payload.encoded, from: author)
                    precondition(again == payload, "a payload must round-trip")
                    _ = try AppContent(payload.event)
                },
                Reader([Array(file.tag.values.joined(separator: "\0").utf8)]) { bytes in
                    let fields = bytes.split(separator: 0, omittingEmptySubsequences: false)
                    let tag = Tag(values: fields.map { String(decoding: $0, as: UTF8.self) })
                    let read = try AttachmentReference(tag)
                    precondition((try? AttachmentReference(read.tag)) == read, "a reference must round-trip")
                },
                Reader([push]) { bytes in
                    let event = UnsignedEvent(
                        pubkey: author, createdAt: 1, kind: .pushTokenRemoval,
                        content: String(decoding: bytes, as: UTF8.self))
                    for record in try PushGossip(event).records {
                        _ = try? record.verify(in: GroupID([1]), now: .max)
                    }
                },
            ])
    }

    private static func canonical<Component: GroupComponent>(_ seed: Component) -> Reader {
        Reader([seed.encoded]) { bytes in
            let value = try Component(data: bytes)
            precondition(value.encoded == bytes, "a \(Component.self) must be canonical")
        }
    }

    private static func requireValue<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw MarmotError(.unexpected, "a seed is missing") }
        return value
    }
}
