import BotKit
import MLS
import Marmot
import Nostr
import PikaCore
import ProbeReports

/// Creates valid and damaged key package events of one account.
struct KeyPackageMaker {
    static let now: UnixTime = 1_800_000_000
    static let slot = String(repeating: "ab", count: 32)

    let keys: KeyPair
    let relay: RelayURL

    init() throws {
        var generator = SystemRandomNumberGenerator()
        keys = KeyPair.generate(using: &generator)
        relay = try RelayURL("wss://one.example")
    }

    /// Parameters of a key package, besides its keys.
    struct Recipe {
        var suite = CipherSuite.x25519AES128GCM
        var identity: [UInt8]?
        var extensions: [UInt16] = [0x000a, 0xf2ee]
        var proposals: [UInt16] = [0x000a]
        var lifetime = Lifetime(
            notBefore: UInt64(KeyPackageMaker.now.seconds) - 3600,
            notAfter: UInt64(KeyPackageMaker.now.seconds) + 7_257_600)
        var isLastResort = true
    }

    func package(_ recipe: Recipe = Recipe()) throws -> KeyPackage {
        var generator = SystemRandomNumberGenerator()
        let credential = recipe.identity.map { Credential.basic(identity: $0) } ?? keys.publicKey.credential
        return try KeyPackageBundle.generate(
            recipe.suite, credential: credential,
            capabilities: Capabilities(
                cipherSuites: [recipe.suite.rawValue], extensions: recipe.extensions, proposals: recipe.proposals),
            lifetime: recipe.lifetime,
            signatureKey: try SignaturePrivateKey.generate(recipe.suite, using: &generator),
            extensions: recipe.isLastResort ? [Extension(type: .lastResort, data: [])] : [], using: &generator
        ).keyPackage
    }

    /// Returns the unsigned event of kind 30443 for a key package.
    func draft(_ package: KeyPackage, at time: UnixTime = now, slot: String = slot) -> UnsignedEvent {
        KeyPackageEvents.drafts(
            for: package, slot: slot, relays: [relay], client: "test", by: keys.publicKey, now: time
        ).addressable
    }

    func legacyDraft(_ package: KeyPackage, at time: UnixTime = now) -> UnsignedEvent {
        KeyPackageEvents.drafts(
            for: package, slot: Self.slot, relays: [relay], client: "test", by: keys.publicKey, now: time
        ).legacy
    }

    func sign(_ draft: UnsignedEvent) -> Event {
        var generator = SystemRandomNumberGenerator()
        return draft.signed(by: keys, using: &generator)
    }

    func good(at time: UnixTime = now) throws -> Event {
        var recipe = Recipe()
        recipe.lifetime = Lifetime(notBefore: UInt64(time.seconds) - 3600, notAfter: UInt64(time.seconds) + 7_257_600)
        return sign(draft(try package(recipe), at: time))
    }

    func legacy(at time: UnixTime = now) throws -> Event { sign(legacyDraft(try package(), at: time)) }

    func list(_ kind: Kind, _ relays: RelayURL..., at time: UnixTime = now) -> Event {
        sign(RelayListEvents.draft(kind, relays: relays, by: keys.publicKey, now: time))
    }
}

extension UnsignedEvent {
    /// Returns a copy with the values of a tag replaced; nil removes the tag.
    func with(_ name: String, _ values: [String]?) -> UnsignedEvent {
        var event = self
        event.tags = tags.filter { $0.name != name } + (values.map { [Tag(values: [name] + $0)] } ?? [])
        return event
    }

    func with(content: String) -> UnsignedEvent {
        var event = self
        event.content = content
        return event
    }

    func with(kind: Kind) -> UnsignedEvent {
        var event = self
        event.kind = kind
        return event
    }

    /// Returns a copy with changed key package bytes and unchanged tag `i`.
    func damaging(_ change: (inout [UInt8]) -> Void) -> UnsignedEvent {
        var bytes = Base64.decode(content) ?? []
        change(&bytes)
        return with(content: Base64.encode(bytes))
    }
}
