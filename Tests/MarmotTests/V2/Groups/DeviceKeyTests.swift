import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct DeviceKeyTests {
    @Test func packagesHaveListsOfMDK() throws {
        var lab = try ComponentLab(1)
        let package = try lab.newcomer().bundle.keyPackage
        let leaf = package.leafNode
        #expect(leaf.capabilities.versions == [1] && leaf.capabilities.cipherSuites == [1])
        #expect(leaf.capabilities.extensions == [0x0006, 0xF2D1] && leaf.capabilities.proposals == [0x000A, 0x0008])
        #expect(leaf.capabilities.credentials == [1])
        let dictionary = try #require(try AppDataDictionary(in: leaf.extensions))
        #expect(dictionary.entries.map(\.component) == [0x0001, 0x0002, 0x8009])
        #expect(dictionary[.safeAAD] == [0] && leaf.extensions.count == 1)
        let components = try leaf.components().components
        for required in [GroupRequirement.whiteNoise, .bare] {
            #expect(Set(required.components).isSubset(of: Set(components.map(\.rawValue))))
        }
        #expect(package.extensions.flatMap { $0.tlsEncoded() } == [0, 6, 4, 3, 0, 4, 0] && package.isLastResort)
        guard case .keyPackage(let lifetime) = leaf.source else {
            Issue.record("expected a lifetime")
            return
        }
        let now = UInt64(lab.now.seconds)
        #expect(lifetime.notBefore == now - 3600 && lifetime.notAfter == now + 7_257_600)
    }

    @Test func oneKeyServesAllPackages() throws {
        var lab = try ComponentLab(1)
        let first = try lab.devices[0].keyPackage(now: lab.now, using: &lab.rng).keyPackage
        let second = try lab.devices[0].keyPackage(now: lab.now + 9, using: &lab.rng).keyPackage
        #expect(first.leafNode.signatureKey == second.leafNode.signatureKey)
        #expect(first.initKey != second.initKey && first.reference != second.reference)
        #expect(try ProvenLeaf(first.leafNode, cipherSuite: first.cipherSuite).verify() == lab.devices[0].proof)
    }

    @Test func storedKeyIsRestored() throws {
        let lab = try ComponentLab(1)
        let stored = lab.devices[0].stored
        let restored = try DeviceKey(stored: stored)
        #expect(restored.proof == lab.devices[0].proof && restored.account == lab.keys[0].publicKey)
        #expect(restored.leafExtensions == lab.devices[0].leafExtensions)
        let bytes = stored.copyBytes()
        let forms: [[UInt8]] = [Array(bytes.dropLast()), [0, 2] + Array(bytes.dropFirst(2)), []]
        for damaged in forms {
            expectError(.badStoredForm) { _ = try DeviceKey(stored: Secret(damaged)) }
        }
    }

    @Test func refusesProofOfOtherKey() throws {
        var lab = try ComponentLab(1)
        let key = try DeviceKey.generateKey(using: &lab.rng)
        #expect(throws: AccountProofFailure.self) { _ = try DeviceKey(key, proof: lab.devices[0].proof) }
        let template = try AccountProof.template(
            for: key.publicKey, by: lab.keys[0].publicKey, createdAt: UInt64(lab.now.seconds))
        let signed = template.signed(by: lab.keys[0], using: &lab.rng)
        let device = try DeviceKey(key, proof: AccountProof(signed: signed, template: template))
        #expect(device.account == lab.keys[0].publicKey)
    }
}

struct ComponentInviteeTests {
    /// A time at which the recorded key packages are valid.
    static let recorded: UnixTime = 1_790_820_000

    private func expectFailure(
        _ check: KeyPackageCheck, _ text: String = "", sourceLocation: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        do {
            try body()
            Issue.record("expected a failure of \(check)", sourceLocation: sourceLocation)
        } catch let failure as KeyPackageFailure {
            #expect(failure.check == check, "\(failure)", sourceLocation: sourceLocation)
            #expect(text.isEmpty || failure.error.message.contains(text), "\(failure)", sourceLocation: sourceLocation)
        } catch {
            Issue.record("unexpected error \(error)", sourceLocation: sourceLocation)
        }
    }

    /// An event with a package made from these parts.
    private func event(
        _ lab: inout ComponentLab, capabilities: Capabilities = OwnSupport.capabilities,
        components: [ComponentID] = OwnSupport.components, lifetime: Lifetime? = nil, proven: Bool = true
    ) throws -> Event {
        let keys = lab.keys[0]
        let key = try DeviceKey.generateKey(using: &lab.rng)
        let proof = try AccountProof.make(for: key.publicKey, by: keys, now: lab.now, using: &lab.rng)
        var entries: [ComponentID: [UInt8]] = [.appComponents: ComponentsList(components).tlsEncoded()]
        if proven { entries[0x8009] = proof.encoded }
        let bundle = try KeyPackageBundle.generate(
            .x25519AES128GCM, credential: keys.publicKey.credential, capabilities: capabilities,
            lifetime: lifetime ?? KeyPackageSchedule.lifetime(now: lab.now), signatureKey: key,
            leafExtensions: [AppDataDictionary(entries).asExtension], using: &lab.rng)
        return try PublishedKeyPackage(
            bundle.keyPackage, components: components.map(\.rawValue), slot: ComponentLab.slot
        ).draft(by: keys.publicKey, now: lab.now).signed(by: keys, using: &lab.rng)
    }

    @Test func readsRecordedPackages() throws {
        for json in [V2Vectors.engineKeyPackage, V2Vectors.appKeyPackage] {
            let event = try V2Vectors.event(json)
            let invitee = try ComponentInvitee(examining: event, now: Self.recorded)
            #expect(invitee.identity == event.pubkey && invitee.event == event.id)
            try invitee.examineCapabilities(.bare)
        }
        let engine = try ComponentInvitee(examining: V2Vectors.event(V2Vectors.engineKeyPackage), now: Self.recorded)
        self.expectFailure(.capabilities, "component 0x8006, component 0x800b") {
            try engine.examineCapabilities(.whiteNoise)
        }
        self.expectFailure(.capabilities, "lacks extension 0xf2d1, proposal 0x000a") {
            try engine.examineCapabilities(.whiteNoise)
        }
    }

    @Test func namesFirstFailedCheck() throws {
        var lab = try ComponentLab(1)
        let whole = try self.event(&lab)
        #expect(try ComponentInvitee(examining: whole, now: lab.now).identity == lab.keys[0].publicKey)
        let altered = Event(
            id: whole.id, pubkey: whole.pubkey, createdAt: whole.createdAt, kind: whole.kind, tags: whole.tags,
            content: whole.content + " ", signature: whole.signature)
        self.expectFailure(.eventSignature) { _ = try ComponentInvitee(examining: altered, now: lab.now) }
        self.expectFailure(.lifetime) { _ = try ComponentInvitee(examining: whole, now: lab.now - 301) }
        self.expectFailure(.lifetime) { _ = try ComponentInvitee(examining: whole, now: lab.now + 7_257_600) }
        let long = try self.event(
            &lab, lifetime: Lifetime(notBefore: UInt64(lab.now.seconds), notAfter: UInt64(lab.now.seconds) + 7_261_201))
        self.expectFailure(.lifetime) { _ = try ComponentInvitee(examining: long, now: lab.now) }
        let unproven = try self.event(&lab, proven: false)
        self.expectFailure(.accountProof) { _ = try ComponentInvitee(examining: unproven, now: lab.now) }
    }

    @Test func tagsMustMatchLeaf() throws {
        var lab = try ComponentLab(1)
        let whole = try self.event(&lab)
        let tags = whole.tags.map { $0.name == "app_components" ? Tag("app_components", "0x8009") : $0 }
        let event = UnsignedEvent(
            pubkey: whole.pubkey, createdAt: whole.createdAt, kind: whole.kind, tags: tags, content: whole.content
        ).signed(by: lab.keys[0], using: &lab.rng)
        self.expectFailure(.tags, "app_components") { _ = try ComponentInvitee(examining: event, now: lab.now) }
    }

    @Test func choosesUsablePackage() throws {
        var lab = try ComponentLab(1)
        let good = try self.event(&lab)
        let choice = ComponentInvitee.choice(among: [good], of: lab.keys[0].publicKey, now: lab.now)
        #expect(choice.best?.package.event == good.id && choice.rejections.isEmpty)
        let bad = try self.event(&lab, proven: false)
        #expect(ComponentInvitee.choice(among: [bad], of: lab.keys[0].publicKey, now: lab.now).best == nil)
    }
}
