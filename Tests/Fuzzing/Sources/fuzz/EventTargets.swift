import PikaCore
import TLSCodec

@testable import MLS
@testable import Marmot
@testable import Nostr

extension Target {
    /// Key package events, as received, and signed again after a change.
    static func keyPackage(_ world: World) -> Target {
        Target(
            "key-package",
            [
                Reader(world.newcomerEvents.map { $0.json() }) { json in
                    let event = try Event(json: json)
                    _ = try? KeyPackageEvents.relays(of: event)
                    _ = try KeyPackageEvents.read(event, now: world.now)
                },
                Reader([world.newcomer.keyPackage.encoded]) { bytes in
                    let package = try world.newcomer.resigning(try KeyPackage(tlsEncoded: bytes))
                    var rng = RepeatableGenerator(seed: 5)
                    let event = KeyPackageEvents.events(
                        for: package, slot: String(repeating: "22", count: 32), relays: [world.relay], client: "fuzz",
                        by: world.newcomerKeys, now: world.now, using: &rng
                    ).addressable
                    let invitee = try Invitee(event, now: world.now)
                    // An accepted package can be added, whatever its owner wrote into it, or is refused at once.
                    var founder = world.groups[0]
                    let change = GroupChange.add([invitee])
                    let commit = try founder.commit(change, client: "fuzz", now: world.now, using: &rng).event
                    let group = world.deliver(commit)
                    precondition(
                        founder.epoch.isFollowed(by: group.epoch), "members refuse an add that its author allows")
                },
            ])
    }

    /// Kind 445 events as a relay can deliver them.
    static func groupEvent(_ world: World) throws -> Target {
        let events = try world.handshakes.map { try world.wrap($0.message) } + [world.genuine]
        return Target(
            "group-event",
            [
                Reader(events.map { $0.json() }) { json in
                    let event = try Event(json: json)
                    if event.kind == .groupEvent { _ = try? GroupEvents.nostrGroupID(of: event) }
                    _ = world.deliver(event)
                }
            ])
    }

    /// Kind 444 as anyone can send it.
    static func welcome(_ world: World) -> Target {
        Target(
            "welcome",
            [
                Reader([world.welcome.rumorJSON()]) { json in
                    let invitation = try WelcomeEvents.read(try UnsignedEvent.parseRumor(json).event)
                    _ = try MarmotGroup.join(
                        invitation, with: world.newcomer, account: world.newcomerKeys.publicKey)
                },
                Reader([Base64.decode(world.welcome.content) ?? []]) { bytes in
                    var rumor = world.welcome
                    rumor.content = Base64.encode(bytes)
                    _ = try MarmotGroup.join(
                        try WelcomeEvents.read(rumor), with: world.newcomer, account: world.newcomerKeys.publicKey)
                },
            ])
    }

    /// Each layer of a gift wrap, the inner ones encrypted and signed as an attacker can.
    static func giftWrap(_ world: World) throws -> Target {
        let (sender, recipient) = (world.keys[0], world.newcomerKeys)
        var rng = RepeatableGenerator(seed: 6)
        let wrap = try GiftWrap.wrap(
            world.rumor, from: sender, to: recipient.publicKey, now: world.now, using: &rng)
        let key = try NIP44.conversationKey(recipient, wrap.pubkey)
        let seal = try NIP44.decrypt(wrap.content, key)
        @Sendable func layer(_ kind: Kind, _ content: [UInt8]) throws -> Event {
            var rng = RepeatableGenerator(seed: 7)
            let key = try NIP44.conversationKey(sender, recipient.publicKey)
            return UnsignedEvent(
                pubkey: sender.publicKey, createdAt: world.now, kind: kind,
                content: try NIP44.encrypt(content, key, nonce: [UInt8](repeating: 9, count: 32))
            ).signed(by: sender, using: &rng)
        }
        return Target(
            "gift-wrap",
            [
                Reader([wrap.json()]) { _ = try GiftWrap.unwrap(try Event(json: $0), by: recipient) },
                Reader([seal]) { _ = try GiftWrap.unwrap(try layer(.giftWrap, $0), by: recipient) },
                Reader([world.rumor.rumorJSON()]) {
                    _ = try GiftWrap.unwrap(try layer(.giftWrap, try layer(.seal, $0).json()), by: recipient)
                },
                Reader([Array(wrap.content.utf8)]) {
                    _ = try NIP44.decrypt(String(decoding: $0, as: UTF8.self), key)
                },
                Reader([NIP44.pad(Array("hello".utf8)), NIP44.pad([UInt8](repeating: 1, count: 65_536))]) {
                    let text = try NIP44.unpad($0)
                    precondition(NIP44.pad(text).count == $0.count, "padding of a wrong length must be refused")
                },
            ])
    }
}

extension KeyPackageBundle {
    /// The same key package and leaf, under valid signatures of its owner.
    func resigning(_ package: KeyPackage) throws -> KeyPackage {
        let old = package.leafNode
        let leaf = try LeafNode(
            encryptionKey: old.encryptionKey, credential: old.credential, capabilities: old.capabilities,
            source: old.source, extensions: old.extensions, position: nil, signedBy: self.signatureKey)
        return try KeyPackage(
            cipherSuite: package.cipherSuite, initKey: package.initKey, leafNode: leaf,
            extensions: package.extensions, signedBy: self.signatureKey)
    }
}
