import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct KeyPackageEventTests {
    private let now = Lab.start
    private let slot = String(repeating: "5c", count: 32)

    private func make(
        suite: CipherSuite? = nil, for identity: PublicKey? = nil, seed: UInt64 = 7
    ) throws -> (bundle: KeyPackageBundle, keys: KeyPair, events: (addressable: Event, legacy: Event)) {
        var rng = SplitMix64(seed: seed)
        let keys = KeyPair.generate(using: &rng)
        var bundle = try KeyPackageEvents.makeBundle(for: identity ?? keys.publicKey, now: self.now, using: &rng)
        if let suite {
            bundle = try KeyPackageBundle.generate(
                suite, credential: keys.publicKey.credential,
                capabilities: Capabilities(cipherSuites: [suite.rawValue]),
                lifetime: Lifetime(notBefore: 0, notAfter: .max),
                signatureKey: try SignaturePrivateKey.generate(suite, using: &rng), using: &rng)
        }
        let events = KeyPackageEvents.events(
            for: bundle.keyPackage, slot: self.slot, relays: try Lab.relays.map { try RelayURL($0) },
            client: Lab.client, by: keys, now: self.now, using: &rng)
        return (bundle, keys, events)
    }

    /// An event with other tags or content; this layer does not check its signature.
    private func changed(_ event: Event, content: String? = nil, _ change: (inout [Tag]) -> Void = { _ in }) -> Event {
        var tags = event.tags
        change(&tags)
        return Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: event.kind, tags: tags,
            content: content ?? event.content, signature: event.signature)
    }

    private func with(_ event: Event, _ name: String, _ values: [String]?) -> Event {
        self.changed(event) { tags in
            let position = tags.firstIndex { $0.name == name }
            switch (position, values) {
            case (let position?, let values?): tags[position] = Tag(values: [name] + values)
            case (let position?, nil): tags.remove(at: position)
            case (nil, let values?): tags.append(Tag(values: [name] + values))
            case (nil, nil): break
            }
        }
    }

    private func read(_ event: Event, now: UnixTime? = nil) throws -> VerifiedKeyPackage {
        try KeyPackageEvents.read(event, now: now ?? self.now)
    }

    // MARK: Writing

    @Test func bothKindsUseTheSpecifiedTagOrder() throws {
        let (bundle, keys, events) = try self.make()
        let shared = [
            ["mls_protocol_version", "1.0"], ["mls_ciphersuite", "0x0001"], ["mls_extensions", "0x000a", "0xf2ee"],
            ["mls_proposals", "0x000a"], ["relays"] + Lab.relays, ["i", Hex.encode(bundle.keyPackage.reference)],
            ["client", Lab.client], ["encoding", "base64"],
        ]
        #expect(events.legacy.kind == 443 && events.addressable.kind == 30443)
        #expect(events.legacy.tags.map(\.values) == shared)
        #expect(events.addressable.tags.map(\.values) == [["d", self.slot]] + shared)
        for event in [events.legacy, events.addressable] {
            try event.verify()
            #expect(event.pubkey == keys.publicKey && event.createdAt == self.now)
            #expect(event.content.hasPrefix("AAEAAS"))
            #expect(try self.read(event).keyPackage == bundle.keyPackage)
        }
    }

    @Test func leafMatchesMDKWithGreaseLast() throws {
        let (bundle, keys, _) = try self.make()
        let leaf = bundle.keyPackage.leafNode
        let capabilities = leaf.capabilities
        #expect(capabilities.versions == [1])
        #expect(capabilities.cipherSuites.dropLast() == [1] && capabilities.extensions.dropLast() == [0x000A, 0xF2EE])
        #expect(capabilities.proposals.dropLast() == [0x000A] && capabilities.credentials.dropLast() == [1])
        for list in [
            capabilities.cipherSuites, capabilities.extensions, capabilities.proposals, capabilities.credentials,
        ] { #expect(Grease.contains(try #require(list.last))) }
        #expect(leaf.credential == .basic(identity: keys.publicKey.bytes) && leaf.extensions.isEmpty)
        #expect(bundle.keyPackage.extensions == [Extension(type: .lastResort, data: [])])
        let time = UInt64(self.now.seconds)
        #expect(leaf.source == .keyPackage(Lifetime(notBefore: time - 3600, notAfter: time + 7_257_600)))
    }

    @Test func everyPackageHasFreshKeys() throws {
        let (first, second) = (try self.make(seed: 1).bundle.keyPackage, try self.make(seed: 2).bundle.keyPackage)
        #expect(first.initKey != second.initKey && first.leafNode.signatureKey != second.leafNode.signatureKey)
        #expect(first.leafNode.encryptionKey != first.initKey)
    }

    // MARK: Reading

    @Test func refusesOtherKinds() throws {
        let event = try self.make().events.legacy
        let other = Event(
            id: event.id, pubkey: event.pubkey, createdAt: event.createdAt, kind: 444, tags: event.tags,
            content: event.content, signature: event.signature)
        expectError(.wrongKind) { _ = try self.read(other) }
    }

    @Test(
        arguments: ["mls_protocol_version", "mls_ciphersuite", "mls_extensions", "relays"])
    func namesMissingOrEmptyRequiredTags(name: String) throws {
        let events = try self.make().events
        for event in [events.legacy, events.addressable] {
            expectError(.badTag, name) { _ = try self.read(self.with(event, name, nil)) }
            expectError(.badTag, name) { _ = try self.read(self.with(event, name, [])) }
            expectError(.badTag, name) { _ = try self.read(self.with(event, name, ["x"])) }
        }
    }

    @Test(arguments: ["d", "mls_proposals", "i"])
    func kind443ToleratesMissing30443Tags(name: String) throws {
        let events = try self.make().events
        expectError(.badTag, "tag \(name)") { _ = try self.read(self.with(events.addressable, name, nil)) }
        expectError(.badTag, "tag \(name)") { _ = try self.read(self.with(events.addressable, name, [])) }
        _ = try self.read(self.with(events.legacy, name, nil))
    }

    @Test func slotHas64HexDigits() throws {
        let event = try self.make().events.addressable
        for slot in ["", "00", String(repeating: "0", count: 63), String(repeating: "g", count: 64), self.slot + "00"] {
            expectError(.badTag, "tag d") { _ = try self.read(self.with(event, "d", [slot])) }
        }
    }

    @Test func proposalsTagHoldsOneLowerCaseValue() throws {
        let events = try self.make().events
        for event in [events.legacy, events.addressable] {
            for values in [["0x000A"], ["0X000a"], ["0x000a", "0x000a"], ["0x000b"], ["10"], [""]] {
                expectError(.badTag, "mls_proposals") { _ = try self.read(self.with(event, "mls_proposals", values)) }
            }
        }
    }

    @Test func extensionsTagToleratesOrderCaseAndExtras() throws {
        let event = try self.make().events.addressable
        for values in [["0xf2ee", "0x000a"], ["0xF2EE", "0x000A"], ["0x0001", "0x000a", "0xf2ee"]] {
            _ = try self.read(self.with(event, "mls_extensions", values))
        }
        for values in [["0x000a"], ["0xf2ee"], ["0x000a", "0xf2ee", "0x1"], ["000a", "f2ee"]] {
            expectError(.badTag, "mls_extensions") { _ = try self.read(self.with(event, "mls_extensions", values)) }
        }
    }

    @Test func everyRelayMustBeAURL() throws {
        let event = try self.make().events.legacy
        expectError(.badTag, "relays") {
            _ = try self.read(self.with(event, "relays", ["wss://a.example", "a.example"]))
        }
        #expect(try KeyPackageEvents.relays(of: event).map(\.string) == Lab.relays)
    }

    @Test func referenceMustMatchThePackage() throws {
        let events = try self.make().events
        for event in [events.legacy, events.addressable] {
            let right = try #require(event.firstTag("i")?.value)
            _ = try self.read(self.with(event, "i", [right.uppercased()]))
            for values in [[right, right], [String(right.dropLast())], [""], [String(repeating: "zz", count: 32)]] {
                expectError(.badTag, "64 hex digits") { _ = try self.read(self.with(event, "i", values)) }
            }
            expectError(.badTag, "KeyPackageRef") { _ = try self.read(self.with(event, "i", [self.slot])) }
        }
    }

    @Test func firstTagOfANameWins() throws {
        let event = try self.make().events.legacy
        _ = try self.read(self.changed(event) { $0.append(Tag("mls_protocol_version", "2.0")) })
        expectError(.badTag, "mls_protocol_version") {
            _ = try self.read(self.changed(event) { $0.insert(Tag("mls_protocol_version", "2.0"), at: 0) })
        }
    }

    @Test func readsOlderFormsAndUnknownTags() throws {
        let (bundle, _, events) = try self.make()
        var event = self.with(self.with(events.legacy, "mls_protocol_version", ["1"]), "mls_ciphersuite", ["1"])
        #expect(try self.read(event).keyPackage == bundle.keyPackage)
        event = self.with(event, "encoding", nil)
        #expect(try self.read(event).keyPackage == bundle.keyPackage)
        event = self.changed(event, content: Hex.encode(bundle.keyPackage.encoded))
        #expect(try self.read(event).keyPackage == bundle.keyPackage)
        _ = try self.read(self.with(self.with(events.addressable, "-", []), "color", ["blue"]))
        _ = try self.read(self.with(events.addressable, "client", nil))
        _ = try self.read(self.with(events.addressable, "encoding", ["BASE64"]))
    }

    @Test func refusesContentThatIsNotBase64() throws {
        let (bundle, _, events) = try self.make()
        for content in ["", " ", "AAEAAS", events.legacy.content + "\n", Hex.encode(bundle.keyPackage.encoded) + "g"] {
            #expect(throws: MarmotError.self) { _ = try self.read(self.changed(events.legacy, content: content)) }
        }
        expectError(.badContent) { _ = try self.read(self.changed(events.legacy, content: "AAEAA")) }
    }

    @Test func refusesAnotherAuthor() throws {
        var rng = SplitMix64(seed: 9)
        let event = try self.make(for: KeyPair.generate(using: &rng).publicKey).events.addressable
        expectError(.identityMismatch) { _ = try self.read(event) }
    }

    @Test func refusesCredentialWithoutNostrKey() throws {
        var rng = SplitMix64(seed: 10)
        let keys = KeyPair.generate(using: &rng)
        let offCurve = [UInt8](repeating: 0xFF, count: 32)
        for credential in [Credential.basic(identity: [1, 2, 3]), .basic(identity: offCurve)] {
            let bundle = try KeyPackageBundle.generate(
                .x25519AES128GCM, credential: credential, capabilities: MarmotProfile.mip.capabilities(using: &rng),
                lifetime: Lifetime(notBefore: 0, notAfter: .max),
                signatureKey: try SignaturePrivateKey.generate(.x25519AES128GCM, using: &rng), using: &rng)
            let event = KeyPackageEvents.events(
                for: bundle.keyPackage, slot: self.slot, relays: [try RelayURL(Lab.relays[0])], client: "c", by: keys,
                now: self.now, using: &rng
            ).legacy
            expectError(.badCredential) { _ = try self.read(event) }
        }
    }

    @Test func refusesExpiredOrFuturePackage() throws {
        let event = try self.make().events.addressable
        _ = try self.read(event, now: self.now - 3600)
        _ = try self.read(event, now: self.now + 7_257_600)
        expectError(.notYetValid, "valid from") { _ = try self.read(event, now: self.now - 3601) }
        expectError(.expired, "valid from") { _ = try self.read(event, now: self.now + 7_257_601) }
    }

    @Test func refusesTrailingBytesWrappingAndBadSignatures() throws {
        let (bundle, _, events) = try self.make()
        let bytes = bundle.keyPackage.encoded
        func content(_ bytes: [UInt8]) -> Event { self.changed(events.legacy, content: Base64.encode(bytes)) }
        expectError(.mls, "follow after the end") { _ = try self.read(content(bytes + [0])) }
        expectError(.incompatible, "wrapped") {
            _ = try self.read(content(MLSMessage.keyPackage(bundle.keyPackage).tlsEncoded()))
        }
        var forged = bytes
        forged[forged.count - 1] ^= 1
        expectError(.badSignature, "does not verify") { _ = try self.read(content(forged)) }
        for length in 0..<bytes.count {
            #expect(throws: MarmotError.self) { try self.read(content(Array(bytes[..<length]))) }
        }
    }

    @Test func refusesOtherSuiteRegardlessOfTag() throws {
        let event = try self.make(suite: .x25519ChaCha20Poly1305).events.addressable
        expectError(.incompatible, "suite") { _ = try self.read(event) }
        expectError(.badTag, "mls_ciphersuite") { _ = try self.read(self.with(event, "mls_ciphersuite", ["0x0003"])) }
    }

    @Test(
        .enabled(if: Transcript.isPresent, "set MDK_TRANSCRIPTS to the folder with the recorded MDK groups"),
        arguments: ["0.7.0-basic", "0.8.0-basic", "0.8.0-membership"])
    func acceptsKeyPackageEventsOfMDK(name: String) throws {
        let transcript = try Transcript.load(name)
        for (kind, recorded) in transcript.joiner.keyPackageEvents {
            let event = try recorded.event()
            try event.verify()
            // MDK 0.7 makes no 30443: the recording's was assembled from its 443, without mls_proposals.
            if kind == "30443" && name.hasPrefix("0.7") {
                expectError(.badTag, "mls_proposals") { _ = try self.read(event, now: transcript.madeAt) }
            } else {
                let package = try self.read(event, now: transcript.madeAt).keyPackage
                #expect(Hex.encode(package.encoded) == transcript.joiner.keyPackage)
            }
        }
        #expect(transcript.joiner.keyPackageEvents.count == 2)
    }
}
