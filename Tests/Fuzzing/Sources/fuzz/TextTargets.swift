import MLS
import PikaCore

@testable import Marmot
@testable import Nostr

extension Target {
    /// Messages of relays and clients, and pasted text. Every decoded value must round-trip.
    static func nostr(_ world: World) -> Target {
        let event = world.newcomerEvents[0]
        let filter = Filter(
            ids: [event.id], authors: [event.pubkey], kinds: [1], since: 1, limit: 5, tags: ["p": ["x"]])
        let relayMessages: [RelayMessage] = [
            .event(subscription: "s", event), .ok(event.id, accepted: true, message: "duplicate: é"),
            .count(subscription: "s", 5), .authentication(challenge: "c"), .notice("n"),
            .closed(subscription: "s", message: "error: x"), .endOfStoredEvents(subscription: "s"),
        ]
        let clientMessages: [ClientMessage] = [
            .event(event), .request(subscription: "s", filters: [filter, filter]), .close(subscription: "s"),
        ]
        return Target(
            "nostr",
            [
                self.again([event.json()], { try Event(json: $0) }, { $0.json() }),
                self.again(relayMessages.map { $0.json() }, { try RelayMessage(json: $0) }, { $0.json() }),
                self.again(clientMessages.map { $0.json() }, { try ClientMessage(json: $0) }, { $0.json() }),
                self.again([filter.json()], { try Filter(json: $0) }, { $0.json() }),
                self.again([Array(#"{"a":[1,-2.5e3,"\ud83d\ude00",null,true]}"#.utf8)]) {
                    try JSONValue(json: $0)
                } _: {
                    $0.json()
                },
                self.again([world.rumor.rumorJSON()]) {
                    try UnsignedEvent.parseRumor($0).event
                } _: {
                    $0.rumorJSON()
                },
                Reader([Array(#"{"name":"r","limitation":{"max_limit":500},"supported_nips":[1,11]}"#.utf8)]) {
                    _ = try RelayInformation(json: $0)
                },
                Reader(self.identifiers(event)) { bytes in
                    let text = String(decoding: bytes, as: UTF8.self)
                    _ = try? PublicKey(parsing: text)
                    _ = try? KeyPair(parsing: text)
                    _ = try? NIP19.decodeNote(text)
                    _ = try NIP19.decode(text)
                },
                Reader(["wss://[::1]:4848/p?q", "ws://h.example"].map { Array($0.utf8) }) { bytes in
                    let url = try RelayURL(String(decoding: bytes, as: UTF8.self))
                    precondition((try? RelayURL(url.string)) == url, "an address must round-trip")
                },
                Reader([event.json()]) { json in
                    let event = try Event(json: json)
                    _ = try? Deletion(event)
                    _ = try? RelayList(event)
                    _ = event.tags.expiration
                },
            ])
    }

    private static func again<Value: Equatable & SendableMetatype>(
        _ seeds: [[UInt8]], _ read: @escaping @Sendable ([UInt8]) throws -> Value,
        _ write: @escaping @Sendable (Value) -> [UInt8]
    ) -> Reader {
        Reader(seeds) { bytes in
            let value = try read(bytes)
            precondition((try? read(write(value))) == value, "a \(Value.self) must round-trip")
        }
    }

    private static func identifiers(_ event: Event) -> [[UInt8]] {
        let texts = [
            event.pubkey.npub, NIP19.encode(event.id),
            NIP19.encode(NIP19.Profile(publicKey: event.pubkey, relays: ["wss://r.example"])),
            NIP19.encode(NIP19.EventPointer(id: event.id, relays: ["wss://r"], author: event.pubkey, kind: 1)),
        ]
        return texts.map { Array($0.utf8) }
    }

    /// Inner events with any content that a member can send. Some inputs have one tag per line, with strings separated
    /// by tabs.
    static func rumor(_ world: World) throws -> Target {
        let token = try PushToken(bytes: [UInt8](repeating: 3, count: PushToken.count))
        let route = PushRoute(token, server: world.keys[1].publicKey, relay: world.relay)
        let image = try MediaReference(
            url: "https://m.example/x", type: try MediaType("image/png"), filename: "a.png",
            dimensions: .init(width: 1, height: 2), hash: world.keys[0].publicKey.bytes32,
            nonce: [UInt8](repeating: 1, count: 12))
        let pushes = [
            try PushRumor.request([route]).rumor(by: world.keys[0].publicKey, now: 0),
            try PushRumor.list([LeafIndex(rawValue: 4): route], answering: world.genuine.id).rumor(
                by: world.keys[0].publicKey, now: 0),
        ]
        let call = CallSignal(
            callID: "c", timestampMilliseconds: 1,
            body: .invite(CallSession(moqURL: "https://moq.example", broadcastBase: "b", tracks: [.audio])))
        return Target(
            "rumor",
            [
                Reader([world.rumor.rumorJSON()] + pushes.map { $0.rumorJSON() }) { json in
                    let rumor = try ApplicationMessages.read(json, from: world.keys[0].publicKey)
                    self.readAll(rumor)
                },
                Reader([image.tag].map { self.lines([$0]) }) { bytes in
                    for tag in self.tags(bytes) {
                        let image = try MediaReference(tag)
                        precondition((try? MediaReference(image.tag)) == image, "imeta must round-trip")
                    }
                },
                self.push(pushes[0], world), self.push(pushes[1], world),
                Reader([token.bytes + token.bytes]) { bytes in
                    var rumor = try PushNotifications.rumor([token], by: world.keys[0].publicKey, now: 0)
                    rumor.content = Base64.encode(bytes)
                    for token in try PushNotifications.read(rumor) { _ = try? token.open(by: world.keys[1]) }
                },
                Reader([[1, 0, 32] + [UInt8](repeating: 0, count: 1021)]) { bytes in
                    _ = try DeviceToken(padded: Secret(bytes))
                    var padded = bytes
                    padded += [UInt8](repeating: 0, count: max(0, 1024 - bytes.count))
                    _ = try DeviceToken(padded: Secret(padded.prefix(1024)))
                },
                Reader([
                    Array("# Hi\n<Card a={1} b=\"&lt;\"><SubmitButton action='x'>`<y>`</SubmitButton></Card>".utf8)
                ]) { bytes in
                    let document = HypernoteDocument(String(decoding: bytes, as: UTF8.self))
                    precondition(
                        document.nodes.count <= HypernoteDocument.maximumNodes + 3,
                        "the number of nodes must be bounded")
                    _ = (document.actions, document.plainText)
                },
                Reader([Array(#"{"action":"x","form":{"a":"1"}}"#.utf8)]) { bytes in
                    guard let action = HypernoteAction(content: String(decoding: bytes, as: UTF8.self)) else { return }
                    let written = HypernoteAction(content: action.content)
                    precondition(
                        written == action || action.content.utf8.count > HypernoteDocument.maximumBytes,
                        "a response to a hypernote must round-trip")
                },
                Reader([Array(call.content.utf8)]) { bytes in
                    guard let call = CallSignal(content: String(decoding: bytes, as: UTF8.self)) else { return }
                    precondition(CallSignal(content: call.content) == call, "a call signal must round-trip")
                },
            ])
    }

    private static func push(_ sample: UnsignedEvent, _ world: World) -> Reader {
        Reader([self.lines(sample.tags)]) { bytes in
            var rumor = sample
            rumor.tags = self.tags(bytes)
            let value = try PushRumor(rumor)
            let written = try value.rumor(by: sample.pubkey, now: 0)
            precondition((try? PushRumor(written)) == value, "kind \(sample.kind) must round-trip")
            guard case .request(let routes) = value else { return }
            var rng = RepeatableGenerator(seed: 14)
            for batch in PushNotifications.batches(routes) {
                _ = try? PushNotifications.events(batch, now: world.now, using: &rng)
            }
        }
    }

    private static func readAll(_ rumor: UnsignedEvent) {
        _ = try? PushRumor(rumor)
        _ = try? PushNotifications.read(rumor)
        _ = CallSignal(content: rumor.content)
        for tag in rumor.tags { _ = try? MediaReference(tag) }
    }

    private static func lines(_ tags: [Tag]) -> [UInt8] {
        Array(tags.map { $0.values.joined(separator: "\t") }.joined(separator: "\n").utf8)
    }

    private static func tags(_ bytes: [UInt8]) -> [Tag] {
        bytes.split(separator: 0x0a).map { line in
            Tag(values: line.split(separator: 0x09).map { String(decoding: $0, as: UTF8.self) })
        }
    }
}
