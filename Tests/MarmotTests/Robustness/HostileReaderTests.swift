import Errors
import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Damaged key packages, Welcomes, gift wraps and group data; continues ``HostileInputTests``.
struct HostileReaderTests {
    private static let rounds = HostileInputTests.rounds

    @Test func refusesDamagedKeyPackageEventsWithReason() throws {
        var lab = try Lab(1)
        let newcomer = try lab.newcomer()
        let events = KeyPackageEvents.events(
            for: newcomer.bundle.keyPackage, slot: Lab.groupID(1).hex, relays: [try RelayURL(Lab.relays[0])],
            client: "c", by: newcomer.keys, now: lab.now, using: &lab.rng)
        var mutator = Mutator(seed: 0x30443)
        var tally = Tally()
        for round in 0..<Self.rounds {
            let event = mutator.damage(round.isMultiple(of: 2) ? events.addressable : events.legacy)
            tally.add {
                let package = try KeyPackageEvents.read(event, now: lab.now)
                #expect(package.keyPackage == newcomer.bundle.keyPackage)
                return "accepted"
            }
        }
        tally.show("key package events")
        #expect(tally.total == Self.rounds && tally.count(without: ["accepted"]) > Self.rounds / 2)
    }

    @Test func refusesDamagedWelcomesWithReason() throws {
        var lab = try Lab(3)
        let newcomer = try lab.newcomer()
        let welcome = try #require(try lab.change(.add([newcomer.invitee]), by: 0).first)
        var mutator = Mutator(seed: 0x444)
        var tally = Tally()
        for _ in 0..<Self.rounds {
            var rumor = welcome.rumor
            if Int.random(in: 0..<4, using: &lab.rng) == 0 {
                rumor.tags = mutator.damage(rumor.tags)
            } else {
                rumor.content = mutator.damage(base64: rumor.content)
            }
            tally.add { try self.join(rumor, newcomer, lab) }
        }
        tally.show("Welcomes")
        #expect(tally.total == Self.rounds && tally.count(without: ["joined"]) > Self.rounds / 2)
        #expect(try self.join(welcome.rumor, newcomer, lab) == "joined")
    }

    private func join(_ rumor: UnsignedEvent, _ newcomer: Lab.Newcomer, _ lab: Lab) throws -> String {
        let group = try MarmotGroup.join(
            WelcomeEvents.read(rumor), with: newcomer.bundle, account: newcomer.keys.publicKey)
        #expect(group.mls.epochAuthenticator == lab.groups[0].mls.epochAuthenticator)
        return "joined"
    }

    /// Damages the wrap as it is, its content under a new signature, the seal and the inner event, because a sender
    /// chooses each of them freely.
    @Test func refusesDamagedGiftWrapsWithReason() throws {
        var lab = try Lab(2)
        let newcomer = try lab.newcomer()
        let welcome = try #require(try lab.change(.add([newcomer.invitee]), by: 0).first)
        let once = KeyPair.generate(using: &lab.rng)
        let seal = try self.layer(.seal, welcome.rumor.rumorJSON(), by: lab.keys[0], to: newcomer, &lab.rng)
        let wrap = try self.layer(.giftWrap, seal.json(), by: once, to: newcomer, &lab.rng)
        #expect(try self.open(wrap, newcomer, lab) == "joined")
        var mutator = Mutator(seed: 0x1059)
        var tally = Tally()
        for round in 0..<Self.rounds {
            let event: Event
            switch round % 8 {
            case 0...2: event = mutator.damage(wrap)
            case 3: event = try self.withWrongSignature(wrap, bit: round / 8 % 512)
            case 4, 5: event = mutator.damage(wrap).unsigned.signed(by: once, using: &lab.rng)
            case 6:
                event = try self.layer(.giftWrap, mutator.damage(seal.json()), by: once, to: newcomer, &lab.rng)
            default:
                let json = mutator.damage(welcome.rumor.rumorJSON())
                let seal = try self.layer(.seal, json, by: lab.keys[0], to: newcomer, &lab.rng)
                event = try self.layer(.giftWrap, seal.json(), by: once, to: newcomer, &lab.rng)
            }
            tally.add { try self.open(event, newcomer, lab) }
        }
        tally.show("gift wraps")
        #expect(tally.total == Self.rounds && tally.count(without: ["joined"]) > Self.rounds / 2)
        for reason in ["idMismatch", "badSignature", "badMAC", "unexpectedKind", "malformedJSON", "mls"] {
            #expect(tally.counts["refused/\(reason)"] ?? 0 > 20, "\(reason)")
        }
    }

    private func open(_ event: Event, _ newcomer: Lab.Newcomer, _ lab: Lab) throws -> String {
        try self.join(try GiftWrap.unwrap(event, by: newcomer.keys).rumor, newcomer, lab)
    }

    private func withWrongSignature(_ event: Event, bit: Int) throws -> Event {
        var bytes = event.signature.bytes
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        return Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: event.tags,
            content: event.content, signature: try Signature(bytes: bytes))
    }

    private func layer(
        _ kind: Kind, _ content: [UInt8], by author: KeyPair, to reader: Lab.Newcomer, _ rng: inout SplitMix64
    ) throws -> Event {
        // NIP-44 cannot encrypt an empty text.
        let content = content.isEmpty ? [0] : content
        let nonce = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &rng) }
        let key = try NIP44.conversationKey(author, reader.keys.publicKey)
        return UnsignedEvent(
            pubkey: author.publicKey, createdAt: Lab.start, kind: kind,
            tags: kind == .giftWrap ? [.user(reader.keys.publicKey)] : [],
            content: try NIP44.encrypt(content, key, nonce: nonce)
        ).signed(by: author, using: &rng)
    }

    @Test func damagedGroupDataIsRefusedOrStable() throws {
        let lab = try Lab(3)
        let bytes = lab.groups[0].data.encoded()
        var mutator = Mutator(seed: 0xf2ee)
        for _ in 0..<10_000 {
            do {
                let data = try GroupData(encoded: mutator.damage(bytes))
                // Encoding sorts lists and removes duplicates.
                let written = data.encoded()
                #expect(try GroupData(encoded: written).encoded() == written)
            } catch {
                #expect(error.code.description == MarmotError.Code.badGroupData.description)
            }
        }
    }
}
