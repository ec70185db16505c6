import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

struct PublishedKeyPackageTests {
    /// A recorded event with other tags or content; the signature is not checked here.
    private func changed(
        _ event: Event, kind: Kind? = nil, author: PublicKey? = nil, content: String? = nil,
        _ change: (inout [Tag]) -> Void = { _ in }
    ) -> Event {
        var tags = event.tags
        change(&tags)
        return Event(
            id: event.id, pubkey: author ?? event.pubkey, createdAt: event.createdAt, kind: kind ?? event.kind,
            tags: tags, content: content ?? event.content, signature: event.signature)
    }

    /// A recorded event whose tag `name` has these values, or is missing.
    private func with(_ name: String, _ values: [String]?) throws -> Event {
        self.changed(try V2Vectors.event(V2Vectors.engineKeyPackage)) { tags in
            tags.removeAll { $0.name == name }
            if let values { tags.append(Tag(values: [name] + values)) }
        }
    }

    private func expectFailure(
        _ check: KeyPackageCheck, _ code: MarmotError.Code, sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        do {
            try body()
            Issue.record("expected a failure of \(check)", sourceLocation: sourceLocation)
        } catch let failure as KeyPackageFailure {
            #expect(failure.check == check, "\(failure)", sourceLocation: sourceLocation)
            #expect(failure.error == MarmotError(code, ""), "\(failure)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("unexpected error \(error)", sourceLocation: sourceLocation)
        }
    }

    // MARK: Reading

    @Test func readsRecordedEvents() throws {
        let engine = try V2Vectors.event(V2Vectors.engineKeyPackage)
        try engine.verify()
        let announcement = try PublishedKeyPackage(engine)
        #expect(announcement.slot == "e1c4cbb21f33cea068adf34b25c6bc5008247447a35bcada92424eb2812698d0")
        #expect(
            announcement.support
                == LeafSupport(
                    extensions: [6], proposals: [8], components: [0x8001, 0x8003, 0x8004, 0x8009, 0x800C]))
        #expect(announcement.client == nil)
        let app = try PublishedKeyPackage(V2Vectors.event(V2Vectors.appKeyPackage))
        #expect(app.support.extensions == [6, 0xF2D1, 0xF2D2, 0xF2D4] && app.support.proposals == [8, 10])
        // The leaf lists the proposals in another order.
        #expect(app.keyPackage.leafNode.capabilities.proposals == [10, 8])
    }

    @Test func writesRecordedEventsAgain() throws {
        for json in [V2Vectors.engineKeyPackage, V2Vectors.appKeyPackage] {
            let event = try V2Vectors.event(json)
            let read = try PublishedKeyPackage(event)
            let written = try PublishedKeyPackage(
                read.keyPackage, components: [1] + read.support.components, slot: read.slot)
            #expect(written == read)
            #expect(written.draft(by: event.pubkey, now: event.createdAt) == event.unsigned)
            let named = try PublishedKeyPackage(
                read.keyPackage, components: read.support.components, slot: read.slot, client: "pikabot")
            #expect(named.draft(by: event.pubkey, now: 1).tags.last == Tag("client", "pikabot"))
        }
    }

    @Test(arguments: [
        "d", "mls_protocol_version", "i", "mls_ciphersuite", "mls_extensions", "mls_proposals", "app_components",
    ])
    func everyTagOccursOnce(name: String) throws {
        self.expectFailure(.tags, .badTag) { _ = try PublishedKeyPackage(self.with(name, nil)) }
        self.expectFailure(.tags, .badTag) { _ = try PublishedKeyPackage(self.with(name, [])) }
        self.expectFailure(.tags, .badTag) { _ = try PublishedKeyPackage(self.with(name, [""])) }
        let event = try V2Vectors.event(V2Vectors.engineKeyPackage)
        let doubled = self.changed(event) { tags in tags += tags.all(named: name) }
        self.expectFailure(.tags, .badTag) { _ = try PublishedKeyPackage(doubled) }
    }

    @Test(arguments: [
        ("mls_protocol_version", ["1"]), ("mls_protocol_version", ["1.0", "1.0"]), ("mls_ciphersuite", ["1"]),
        ("mls_ciphersuite", ["0x0002"]), ("mls_ciphersuite", ["0x0001", "0x0001"]), ("i", ["00"]),
        ("i", ["64D468821A1EC63D3C238C472ECE1C0B0E1FA0C17922FD40104EA167CEA49D10"]), ("mls_extensions", ["6"]),
        ("mls_extensions", ["0x6"]), ("mls_extensions", ["0X0006"]), ("mls_extensions", ["0x00006"]),
        ("mls_proposals", ["0x000A"]), ("mls_proposals", ["0x0008", "0x0008"]), ("mls_proposals", ["0x+008"]),
        ("app_components", ["0x8001"]), ("app_components", ["0x8009", "x"]), ("d", ["a", "b"]),
    ])
    func refusesMalformedTags(name: String, values: [String]) throws {
        self.expectFailure(.tags, .badTag) { _ = try PublishedKeyPackage(self.with(name, values)) }
    }

    @Test func ignoresUnknownTags() throws {
        let event = try V2Vectors.event(V2Vectors.engineKeyPackage)
        let read = try PublishedKeyPackage(
            self.changed(event) { $0 += [Tag("encoding", "base64"), Tag("alt", "x"), Tag("client", "x"), Tag("-")] })
        #expect(read.client == "x")
    }

    @Test func refusesOtherContents() throws {
        let event = try V2Vectors.event(V2Vectors.engineKeyPackage)
        let bytes = try #require(Base64.decode(event.content))
        func expect(_ check: KeyPackageCheck, _ code: MarmotError.Code, _ content: String) {
            self.expectFailure(check, code) { _ = try PublishedKeyPackage(self.changed(event, content: content)) }
        }
        expect(.content, .badContent, "no Base64!")
        expect(.content, .badContent, Hex.encode(bytes))
        expect(.content, .badContent, "")
        expect(.content, .incompatible, Base64.encode(Array(bytes.dropFirst(4))))
        expect(.content, .badContent, Base64.encode([0, 1, 0, 3] + bytes.dropFirst(4)))
        expect(.structure, .mls, Base64.encode(bytes + [0]))
        expect(.structure, .mls, Base64.encode(Array(bytes.dropLast())))
        expect(.structure, .mls, Base64.encode([0, 1, 0, 5]))
        expect(.reference, .badTag, Base64.encode(bytes.dropLast() + [bytes[bytes.count - 1] ^ 1]))
        var suite = bytes
        suite[7] = 2
        expect(.suite, .incompatible, Base64.encode(suite))
        var rng = SplitMix64(seed: 1)
        let other = KeyPair.generate(using: &rng).publicKey
        self.expectFailure(.identity, .identityMismatch) {
            _ = try PublishedKeyPackage(self.changed(event, author: other))
        }
        self.expectFailure(.kind, .wrongKind) { _ = try PublishedKeyPackage(self.changed(event, kind: 443)) }
    }

    @Test func tagsMustEqualTheLeaf() throws {
        let read = try PublishedKeyPackage(V2Vectors.event(V2Vectors.appKeyPackage))
        var leaf = LeafSupport(
            extensions: [0xF2D4, 0xF2D2, 0xF2D1, 6], proposals: [10, 8],
            components: [1] + read.support.components.reversed())
        try read.requireTags(of: leaf)
        leaf.extensions.append(0x0A0A)
        try read.requireTags(of: leaf)
        for change: (inout LeafSupport) -> Void in [
            { $0.proposals.append(0x0A0A) }, { $0.extensions.append(3) }, { $0.extensions.removeLast(2) },
            { $0.components.append(0x800F) }, { $0.proposals = [8] },
        ] {
            var other = leaf
            change(&other)
            self.expectFailure(.tags, .badTag) { try read.requireTags(of: other) }
        }
    }

    @Test func namesMissingCapabilities() {
        let leaf = LeafSupport(extensions: [6], proposals: [8], components: [0x8003, 0x8009])
        #expect(leaf.missing(extensions: [3, 6], proposals: [1, 8], components: [0x8003]) == nil)
        #expect(
            leaf.missing(extensions: [0xF2D1], proposals: [10], components: [0x8006])
                == "extension 0xf2d1, proposal 0x000a, component 0x8006")
    }

    /// The requirements of White Noise's groups, and of MDK's by default.
    @Test func standardLeavesFitEveryGroup() {
        let standard = LeafSupport.standard
        #expect(
            standard.missing(
                extensions: [0x0006, 0xF2D1], proposals: [0x0008, 0x000A],
                components: [0x8001, 0x8003, 0x8004, 0x8006, 0x8009, 0x800B, 0x800C]) == nil)
        #expect(
            standard.components == [
                0x0001, 0x8001, 0x8002, 0x8003, 0x8004, 0x8005, 0x8006, 0x8007, 0x8009, 0x800B, 0x800C,
            ])
        // Roles without an implementation are not advertised.
        #expect(!standard.extensions.contains(0xF2D2) && !standard.extensions.contains(0xF2D4))
    }

    // MARK: Writing

    @Test func refusesPackagesPeersWouldIgnore() throws {
        let read = try PublishedKeyPackage(V2Vectors.event(V2Vectors.engineKeyPackage))
        expectError(.badProof) {
            _ = try PublishedKeyPackage(read.keyPackage, components: [0x8003], slot: "a")
        }
        expectError(.badTag) {
            _ = try PublishedKeyPackage(read.keyPackage, components: [0x8009], slot: "")
        }
        // Packages of the first generation list GREASE values.
        var rng = SplitMix64(seed: 2)
        let keys = KeyPair.generate(using: &rng)
        let bundle = try KeyPackageEvents.makeBundle(for: keys.publicKey, now: V2Vectors.now, using: &rng)
        expectError(.incompatible) {
            _ = try PublishedKeyPackage(bundle.keyPackage, components: [0x8009], slot: "a")
        }
    }

    @Test func deletionNamesEventsAndKind() throws {
        let event = try V2Vectors.event(V2Vectors.engineKeyPackage)
        let draft = KeyPackageSchedule.deletion(of: [event.id], by: event.pubkey, now: 7)
        #expect(draft.kind == 5 && draft.createdAt == 7)
        #expect(draft.tags.map(\.values) == [["e", event.id.hex], ["k", "30443"]])
    }
}
