public import MLS
public import Nostr
import TLSCodec

/// Key packages as Nostr events of kind 30443 and 443 (MIP-00).
public enum KeyPackageEvents {
    /// Lifetime of a key package in seconds: 84 days, the maximum that peers accept.
    public static let lifetime: UInt64 = 7_257_600
    /// Seconds by which its validity starts before now, to tolerate slow clocks.
    public static let backdating: UInt64 = 3600

    /// Makes a key package with fresh keys for `identity`.
    public static func makeBundle(
        for identity: PublicKey, profile: MarmotProfile = .mip, now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) throws -> KeyPackageBundle {
        let suite = profile.cipherSuite
        let time = UInt64(max(0, now.seconds))
        return try KeyPackageBundle.generate(
            suite, credential: identity.credential, capabilities: profile.capabilities(using: &rng),
            lifetime: Lifetime(notBefore: time - min(time, self.backdating), notAfter: time + self.lifetime),
            signatureKey: try SignaturePrivateKey.generate(suite, using: &rng),
            extensions: [Extension(type: .lastResort, data: [])], using: &rng)
    }

    /// Returns the two signed events that announce a key package: 30443 for newer clients, 443 for Pika and MDK 0.7.
    ///
    /// - Parameter slot: the `d` tag of 30443: 64 hex digits, kept across rotations.
    public static func events(
        for package: KeyPackage, slot: String, relays: [RelayURL], client: String, by account: KeyPair, now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) -> (addressable: Event, legacy: Event) {
        let drafts = self.drafts(
            for: package, slot: slot, relays: relays, client: client, by: account.publicKey, now: now)
        return (
            drafts.addressable.signed(by: account, using: &rng), drafts.legacy.signed(by: account, using: &rng)
        )
    }

    /// Unsigned variant of ``events(for:slot:relays:client:by:now:using:)``.
    public static func drafts(
        for package: KeyPackage, slot: String, relays: [RelayURL], client: String, by account: PublicKey, now: UnixTime
    ) -> (addressable: UnsignedEvent, legacy: UnsignedEvent) {
        let shared = [
            Tag("mls_protocol_version", "1.0"),
            Tag("mls_ciphersuite", "0x0001"),
            Tag("mls_extensions", "0x000a", "0xf2ee"),
            Tag("mls_proposals", "0x000a"),
            Tag(values: ["relays"] + relays.map(\.string)),
            Tag("i", Hex.encode(package.reference)),
            Tag("client", client),
            Tag("encoding", "base64"),
        ]
        let content = Base64.encode(package.encoded)
        func draft(_ kind: Kind, _ tags: [Tag]) -> UnsignedEvent {
            UnsignedEvent(pubkey: account, createdAt: now, kind: kind, tags: tags, content: content)
        }
        return (draft(.addressableKeyPackage, [Tag("d", slot)] + shared), draft(.keyPackage, shared))
    }

    /// First bytes of an MLSMessage that wraps a key package: version and wire format (RFC 9420 §6).
    private static let wrappedPrefix: [UInt8] = [0, 1, 0, 5]

    /// Returns an event that asks relays to delete this account's kind 443 events (NIP-09); kind 30443 is replaceable
    /// by its address instead.
    public static func deletion(
        of events: [EventID], by account: KeyPair, now: UnixTime, using rng: inout some RandomNumberGenerator
    ) -> Event {
        self.deletionDraft(of: events, by: account.publicKey, now: now).signed(by: account, using: &rng)
    }

    /// Unsigned variant of ``deletion(of:by:now:using:)``.
    public static func deletionDraft(of events: [EventID], by account: PublicKey, now: UnixTime) -> UnsignedEvent {
        Deletion(eventIDs: events, kinds: [.keyPackage]).unsigned(by: account, now: now)
    }

    /// Reads and verifies a peer's key package event, whose own signature the caller has verified.
    ///
    /// Also accepts the formats of older publishers (version `1`, suite `1`, hex content), as Pika does.
    public static func read(
        _ event: Event, profile: MarmotProfile = .mip, now: UnixTime
    ) throws(MarmotError) -> VerifiedKeyPackage {
        do throws(KeyPackageFailure) { return try self.examine(event, profile: profile, now: now) } catch {
            throw error.error
        }
    }

    /// Reads and verifies like ``read(_:profile:now:)``, and reports the failed check.
    static func examine(
        _ event: Event, profile: MarmotProfile, now: UnixTime
    ) throws(KeyPackageFailure) -> VerifiedKeyPackage {
        guard event.kind == .keyPackage || event.kind == .addressableKeyPackage else {
            throw KeyPackageFailure(
                .kind,
                MarmotError(
                    .wrongKind, "expected a key package event (kind 443 or 30443), found kind \(event.kind.rawValue)"))
        }
        try self.checking(.tags) { () throws(MarmotError) in try self.checkTags(event) }
        try self.checking(.reference) { () throws(MarmotError) in try self.checkReferenceForm(event) }
        let bytes = try self.checking(.content) { () throws(MarmotError) in try self.content(event) }
        let package = try self.checking(.structure) { () throws(MarmotError) in try self.decode(bytes) }
        guard package.cipherSuite == profile.cipherSuite else {
            throw KeyPackageFailure(
                .suite,
                MarmotError(.incompatible, "the key package is for suite \(package.cipherSuite), not 0x0001"))
        }
        let verified = try self.verify(package, now: now)
        let identity = try self.checking(.identity) { () throws(MarmotError) in try package.leafNode.identity() }
        guard identity == event.pubkey else {
            throw KeyPackageFailure(
                .identity,
                MarmotError(.identityMismatch, "the key package's identity is not the event's author (MIP-00)"))
        }
        if let stated = event.firstTag("i")?.value, Hex.decode(stated) != package.reference {
            throw KeyPackageFailure(.reference, MarmotError(.badTag, "tag i is not the KeyPackageRef (MIP-00)"))
        }
        return verified
    }

    private static func checking<Value>(
        _ check: KeyPackageCheck, _ body: () throws(MarmotError) -> Value
    ) throws(KeyPackageFailure) -> Value {
        do throws(MarmotError) { return try body() } catch { throw KeyPackageFailure(check, error) }
    }

    private static func decode(_ bytes: [UInt8]) throws(MarmotError) -> KeyPackage {
        do { return try KeyPackage(tlsEncoded: bytes) } catch {
            if bytes.starts(with: self.wrappedPrefix) {
                throw MarmotError(.incompatible, "the key package is wrapped in an MLSMessage, as newer clients do")
            }
            throw MarmotError(.mls, "key package: \(error)")
        }
    }

    private static func verify(_ package: KeyPackage, now: UnixTime) throws(KeyPackageFailure) -> VerifiedKeyPackage {
        do { return try package.verified(now: UInt64(max(0, now.seconds))) } catch {
            switch error.code {
            case .expired: throw KeyPackageFailure(.lifetime, MarmotError(.expired, error.message))
            case .notYetValid: throw KeyPackageFailure(.lifetime, MarmotError(.notYetValid, error.message))
            case .badSignature:
                throw KeyPackageFailure(.packageSignature, MarmotError(.badSignature, error.message))
            default: throw KeyPackageFailure(.structure, MarmotError(.mls, "\(error)"))
            }
        }
    }

    /// Checks the format of all tags; of several tags with one name the first counts (docs/protocol/marmot.md §2.3).
    private static func checkTags(_ event: Event) throws(MarmotError) {
        let isAddressable = event.kind == .addressableKeyPackage
        if isAddressable {
            let slot = try self.require("d", event)[0]
            guard slot.utf8.count == 64, Hex.decode(slot) != nil else { throw self.bad("d", "is not 64 hex digits") }
        }
        let version = try self.require("mls_protocol_version", event)[0]
        guard version == "1.0" || version == "1" else { throw self.bad("mls_protocol_version", "is not 1.0") }
        let suite = try self.require("mls_ciphersuite", event)[0].lowercased()
        guard suite == "0x0001" || suite == "1" else { throw self.bad("mls_ciphersuite", "is not 0x0001") }
        let extensions = try self.require("mls_extensions", event).map { $0.lowercased() }
        guard extensions.allSatisfy({ $0.utf8.count == 6 }), extensions.contains("0x000a"),
            extensions.contains("0xf2ee")
        else { throw self.bad("mls_extensions", "does not hold 0x000a and 0xf2ee") }
        if isAddressable || event.firstTag("mls_proposals") != nil {
            // MDK compares exactly here: one value, lower case.
            guard try self.require("mls_proposals", event) == ["0x000a"] else {
                throw self.bad("mls_proposals", "is not exactly 0x000a")
            }
        }
        guard try !self.relays(of: event).isEmpty else { throw self.bad("relays", "is missing or empty") }
    }

    private static func checkReferenceForm(_ event: Event) throws(MarmotError) {
        guard event.kind == .addressableKeyPackage || event.firstTag("i") != nil else { return }
        let reference = try self.require("i", event)
        guard reference.count == 1, reference[0].utf8.count == 64, Hex.decode(reference[0]) != nil else {
            throw self.bad("i", "is not one value of 64 hex digits")
        }
    }

    private static func require(_ name: String, _ event: Event) throws(MarmotError) -> [String] {
        guard let tag = event.firstTag(name), tag.values.count > 1 else { throw self.bad(name, "is missing or empty") }
        return Array(tag.values.dropFirst())
    }

    private static func bad(_ name: String, _ what: String) -> MarmotError {
        MarmotError(.badTag, "tag \(name) \(what) (MIP-00)")
    }

    /// Returns the relays where the owner of a key package expects Welcomes.
    public static func relays(of event: Event) throws(MarmotError) -> [RelayURL] {
        var relays: [RelayURL] = []
        for text in event.firstTag("relays")?.values.dropFirst() ?? [] {
            do { relays.append(try RelayURL(text)) } catch {
                throw MarmotError(.badTag, "tag relays holds a value that is not a ws:// or wss:// URL (MIP-00)")
            }
        }
        return relays
    }

    private static func content(_ event: Event) throws(MarmotError) -> [UInt8] {
        let isBase64 = event.tags(named: "encoding").contains { $0.value?.lowercased() == "base64" }
        if isBase64, let bytes = Base64.decode(event.content) { return bytes }
        if !isBase64, let bytes = Hex.decode(event.content) ?? Base64.decode(event.content) { return bytes }
        throw MarmotError(.badContent, "the content of a key package event is not Base64")
    }
}
