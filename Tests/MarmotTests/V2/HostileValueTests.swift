import Errors
import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// Damaged values of the second generation: each is refused with a reason, or written again as it was read.
struct HostileValueTests {
    private static let rounds = 2_000

    private func damage(_ sample: some GroupComponent, seed: UInt64) {
        self.damage(type(of: sample), sample.encoded, seed: seed)
    }

    private func damage<Component: GroupComponent>(_ type: Component.Type, _ data: [UInt8], seed: UInt64) {
        var mutator = Mutator(seed: seed)
        for _ in 0..<Self.rounds {
            let damaged = mutator.damage(data)
            do {
                let value = try Component(data: damaged)
                #expect(value.encoded == damaged)
            } catch {
                #expect(error.code == MarmotError.Code.badComponent)
            }
        }
    }

    @Test func componentsAreRefusedOrCanonical() throws {
        var rng = SplitMix64(seed: 1)
        let id = Bytes32.random(using: &rng)
        self.damage(try GroupProfileState(name: "Zürich", description: "a group"), seed: 0x8001)
        let picture = try BlossomImage.Reference.encrypting([1], type: CanonicalMediaType("image/png"), using: &rng)
        self.damage(BlossomImage(picture.image), seed: 0x8002)
        self.damage(
            try AdminPolicy((0..<3).map { _ in KeyPair.generate(using: &rng).publicKey }), seed: 0x8003)
        self.damage(
            try NostrRouting(
                nostrGroupID: id, relays: ["wss://a.example", "ws://[::1]:80/?q", "wss://xn--bcher-kva.example/x"]),
            seed: 0x8004)
        self.damage(MessageRetention(seconds: 60), seed: 0x8005)
        self.damage(try AgentTextStream(), seed: 0x8006)
        self.damage(
            try AvatarURL(url: "https://a.example/p?q", dimensions: [1, 2], thumbhash: [3]), seed: 0x8007)
        self.damage(
            try EncryptedMediaPolicy(blossomServers: ["https://a.example", "https://1.2.3.4:5/x"]), seed: 0x800B)
        self.damage(GroupLifecycle.active, seed: 0x800C)
    }

    /// Every accepted URL has a normal form that is its own normal form.
    @Test func normalFormsAreStable() {
        var mutator = Mutator(seed: 0x3986)
        for url in [
            "https://u:p@Example.COM:0443/a/./b/../%2e/c d?x='y'#z", "http://0x7f.1/..//b:/..", "wss://[1::2:3]:65535",
            "https://xn--bcher-kva.example/é",
        ] {
            for _ in 0..<Self.rounds {
                guard let normal = WebURL(mutator.damage(url))?.normalized else { continue }
                #expect(WebURL(normal)?.normalized == normal, "\(normal.debugDescription)")
            }
        }
    }

    @Test func eventsAreRefusedWithReason() throws {
        let package = try V2Vectors.event(V2Vectors.engineKeyPackage)
        let commit = try V2Vectors.event(V2Vectors.commitEvent)
        let welcome = try UnsignedEvent.parseRumor(Array(V2Vectors.engineWelcome.utf8)).event
        var mutator = Mutator(seed: 0x30443)
        var tally = Tally()
        for _ in 0..<Self.rounds {
            let (first, second) = (mutator.damage(package), mutator.damage(commit))
            tally.add {
                do throws(KeyPackageFailure) { _ = try PublishedKeyPackage(first) } catch { throw error.error }
                return "accepted"
            }
            tally.add {
                _ = try GroupEnvelope(second)
                return "accepted"
            }
            var rumor = welcome
            if Bool.random(using: &mutator.rng) {
                rumor.tags = mutator.damage(rumor.tags)
            } else {
                rumor.content = mutator.damage(base64: rumor.content)
            }
            let damaged = rumor
            tally.add {
                _ = try WelcomeInvitation(damaged)
                return "accepted"
            }
        }
        tally.show("events of the second generation")
        #expect(tally.total == 3 * Self.rounds && tally.count(without: ["accepted"]) > Self.rounds)
    }

    @Test func payloadsAreRefusedWithReason() throws {
        let author = try UnsignedEvent.parseRumor(Array(V2Vectors.innerEvent.utf8)).event.pubkey
        let tag = try AttachmentReferenceTests.example().tag
        var mutator = Mutator(seed: 0x9)
        var tally = Tally()
        for _ in 0..<Self.rounds {
            let json = mutator.damage(Array(V2Vectors.innerEvent.utf8))
            tally.add {
                _ = try AppPayload(json, from: author)
                return "accepted"
            }
            var damaged = tag
            let field = Int.random(in: 1..<tag.values.count, using: &mutator.rng)
            damaged.values[field] = mutator.damage(tag.values[field])
            let attachment = damaged
            tally.add {
                _ = try AttachmentReference(attachment)
                return "accepted"
            }
        }
        tally.show("payloads of the second generation")
        #expect(tally.total == 2 * Self.rounds && tally.count(without: ["accepted"]) > Self.rounds / 2)
    }

    @Test func pushRecordsAreLeftOut() throws {
        var rng = SplitMix64(seed: 2)
        let owner = KeyPair.generate(using: &rng)
        let record = try PushRecord(
            member: owner.publicKey, leaf: LeafIndex(rawValue: 1), platform: .apns,
            fingerprint: "sha256:000102030405060708090a0b", server: owner.publicKey, token: nil, ownerTime: 1)
        let signed = SignedPushRecord(
            record, signature: owner.sign(record.template(in: GroupID([1])).id, using: &rng))
        let event = try PushGossip.removal([signed]).event(by: owner.publicKey, now: 1)
        var mutator = Mutator(seed: 0x449)
        for _ in 0..<Self.rounds {
            var damaged = event
            damaged.content = mutator.damage(event.content)
            guard let records = try? PushGossip(damaged).records else { continue }
            #expect(records.count <= 1)
            for record in records { try? record.verify(in: GroupID([1]), now: .max) }
        }
    }
}
