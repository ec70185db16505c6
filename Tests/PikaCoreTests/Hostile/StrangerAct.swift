import BotTesting
import Nostr

@testable import MLS
@testable import Marmot

/// Acts of a stranger, who can read everything public on the relays.
enum StrangerAct: String, CaseIterable {
    case floodGroups, floodLarge, floodWraps, sendBadWelcomes, invite, rewrap, announceBadKeys, askForDeletion

    func perform(by stranger: inout HostileAccount, _ view: HostileView) throws -> [Event] {
        switch self {
        case .floodGroups:
            return try (0..<Int.random(in: 5...25, using: &stranger.random)).map { _ in
                try self.junk(60, &stranger, view)
            }
        case .floodLarge: return try (0..<3).map { _ in try self.junk(60_000, &stranger, view) }
        case .floodWraps:
            return try (0..<Int.random(in: 3...10, using: &stranger.random)).map { _ in try self.wrap(&stranger, view) }
        case .sendBadWelcomes: return try self.badWelcomes(&stranger, view)
        case .invite:
            // Each invitation is by another account.
            var inviter = try HostileAccount("passer-by", seed: stranger.random.next(), now: view.now)
            guard let victim = view.victims.randomElement(using: &stranger.random) else { return [] }
            let routingID = Bool.random(using: &stranger.random) ? view.quietID : .random(using: &stranger.random)
            return [
                try AdminAct.found(
                    nil, at: 2, routingID: routingID, inviting: try view.keyPackage(of: victim), by: &inviter, view
                ).wrap
            ]
        case .rewrap: return try self.rewrap(&stranger, view)
        case .announceBadKeys: return [self.badKeys(&stranger, view)]
        case .askForDeletion:
            let targets = view.events.suffix(20).map(\.id)
            return [
                Deletion(eventIDs: targets, kinds: [.groupEvent, .giftWrap, .keyPackage])
                    .unsigned(by: stranger.keys.publicKey, now: view.now).signed(
                        by: stranger.keys, using: &stranger.random)
            ]
        }
    }

    private func routingID(_ stranger: inout HostileAccount, _ view: HostileView) throws -> String {
        let ids = Set(view.events.filter { $0.kind == .groupEvent }.compactMap { $0.firstTag("h")?.value })
        guard let id = ids.sorted().randomElement(using: &stranger.random) else {
            throw MarmotError(.notFound, "no group is known")
        }
        return id
    }

    private func sign(
        _ kind: Kind, _ tags: [Nostr.Tag], _ content: String, at time: UnixTime, _ stranger: inout HostileAccount
    ) -> Event {
        let once = KeyPair.generate(using: &stranger.random)
        return UnsignedEvent(pubkey: once.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
            .signed(by: once, using: &stranger.random)
    }

    private func junk(_ bytes: Int, _ stranger: inout HostileAccount, _ view: HostileView) throws -> Event {
        let noise = Secret.random(count: 40, using: &stranger.random).copyBytes()
        let times: [UnixTime] = [
            view.now, view.now, view.now + 300, view.now + 1 << 40, 0, .distantPast, .distantFuture,
        ]
        let content =
            Int.random(in: 0..<10, using: &stranger.random) == 0
            ? "no Base64!" : Base64.encode(noise + [UInt8](repeating: 0, count: bytes))
        return self.sign(
            .groupEvent, [Nostr.Tag("h", try self.routingID(&stranger, view))], content,
            at: times.randomElement(using: &stranger.random) ?? 0, &stranger)
    }

    private func wrap(_ stranger: inout HostileAccount, _ view: HostileView) throws -> Event {
        guard let victim = view.victims.randomElement(using: &stranger.random) else {
            throw MarmotError(.notFound, "no account is known")
        }
        return self.sign(
            .giftWrap, [Nostr.Tag("p", victim.hex)],
            Base64.encode(Secret.random(count: 200, using: &stranger.random).copyBytes()), at: view.now, &stranger)
    }

    /// Gift wraps that decrypt to useless content.
    private func badWelcomes(_ stranger: inout HostileAccount, _ view: HostileView) throws -> [Event] {
        guard let victim = view.victims.randomElement(using: &stranger.random) else { return [] }
        let noise = Base64.encode(Secret.random(count: 400, using: &stranger.random).copyBytes())
        let relays = Nostr.Tag(values: ["relays"] + (0..<200).map { "wss://r\($0).example" })
        let tags = [relays, Nostr.Tag("e", String(repeating: "0", count: 64)), Nostr.Tag("encoding", "base64")]
        return try [
            (Kind.welcome, noise, view.now), (.welcome, "", UnixTime.distantFuture), (.chatMessage, "hello", view.now),
            (.welcome, noise, UnixTime.distantPast),
        ].map { kind, content, time in
            let rumor = UnsignedEvent(
                pubkey: stranger.keys.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
            return try GiftWrap.wrap(
                rumor, from: stranger.keys, to: victim, now: view.now, using: &stranger.random)
        }
    }

    /// Other members' ciphertexts in new events, with other times and tags.
    private func rewrap(_ stranger: inout HostileAccount, _ view: HostileView) throws -> [Event] {
        let known = view.events.filter { $0.kind == .groupEvent }.suffix(40)
        guard let newest = known.last else { throw MarmotError(.notFound, "no group is known") }
        var events: [Event] = []
        for _ in 0..<5 {
            let original = known.randomElement(using: &stranger.random) ?? newest
            let times = [
                UnixTime(original.createdAt.seconds &- 1), UnixTime(original.createdAt.seconds &+ 1),
                UnixTime(original.createdAt.seconds &- 86_400), view.now,
            ]
            let tag = Int.random(in: 0..<4, using: &stranger.random) == 0 ? try self.routingID(&stranger, view) : nil
            events.append(
                self.sign(
                    .groupEvent, tag.map { [Nostr.Tag("h", $0)] } ?? original.tags, original.content,
                    at: times.randomElement(using: &stranger.random) ?? view.now, &stranger))
        }
        return events
    }

    private func badKeys(_ stranger: inout HostileAccount, _ view: HostileView) -> Event {
        let noise = Base64.encode(Secret.random(count: 300, using: &stranger.random).copyBytes())
        return UnsignedEvent(
            pubkey: stranger.keys.publicKey, createdAt: view.now, kind: .keyPackage,
            tags: [
                Nostr.Tag("mls_protocol_version", "1.0"), Nostr.Tag("mls_ciphersuite", "0x0001"),
                Nostr.Tag("mls_extensions", "0x000a", "0xf2ee"), Nostr.Tag("encoding", "base64"),
                Nostr.Tag(values: ["relays"] + (0..<500).map { "wss://r\($0).example" }),
            ], content: noise
        ).signed(by: stranger.keys, using: &stranger.random)
    }
}
