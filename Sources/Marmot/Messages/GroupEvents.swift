import MLS
public import Nostr

/// Kind 445: an MLS message in its outer encryption, signed by a single-use key (MIP-03).
public enum GroupEvents {
    /// Encrypts an MLS message and signs the event with a fresh key.
    static func seal(
        _ message: [UInt8], key: Secret, nostrGroupID: Bytes32, expiration: UnixTime? = nil, now: UnixTime,
        using rng: inout some RandomNumberGenerator
    ) throws -> Event {
        let tags = [Tag("h", nostrGroupID.hex), Tag("encoding", "base64")]
        return try self.seal(
            message, key: key, tags: tags + (expiration.map { [.expiration(at: $0)] } ?? []), createdAt: now,
            using: &rng)
    }

    /// Encrypts an MLS message for an event with these tags, the same in both generations.
    static func seal(
        _ message: [UInt8], key: Secret, tags: [Tag], createdAt: UnixTime, using rng: inout some RandomNumberGenerator
    ) throws -> Event {
        // Draw eight bytes at a time: drawing single bytes from the system's generator costs as much as all encryption.
        let nonce = Secret.random(count: ChaCha20Poly1305.nonceLength, using: &rng).copyBytes()
        let ciphertext = try ChaCha20Poly1305.seal(message, key: key, nonce: nonce)
        let signer = KeyPair.generate(using: &rng)
        return UnsignedEvent(
            pubkey: signer.publicKey, createdAt: createdAt, kind: .groupEvent, tags: tags,
            content: Base64.encode(nonce + ciphertext)
        ).signed(by: signer, using: &rng)
    }

    /// Returns the nonce and ciphertext of an event after checking its format.
    static func ciphertext(_ event: Event) throws(MarmotError) -> (nonce: [UInt8], ciphertext: [UInt8]) {
        guard let bytes = Base64.decode(event.content) else {
            throw MarmotError(.badContent, "the content of a group event is not Base64 (MIP-03)")
        }
        let nonceLength = ChaCha20Poly1305.nonceLength
        guard bytes.count >= nonceLength + ChaCha20Poly1305.tagLength else {
            throw MarmotError(
                .badContent, "the content of a group event has \(bytes.count) bytes, at least 28 are needed")
        }
        return (Array(bytes[..<nonceLength]), Array(bytes[nonceLength...]))
    }

    /// Returns the public group id of a group event, which needs exactly one `h` tag of 64 hex digits (MIP-03).
    public static func nostrGroupID(of event: Event) throws(MarmotError) -> Bytes32 {
        guard event.kind == .groupEvent else {
            throw MarmotError(.wrongKind, "expected a group event (kind 445), found kind \(event.kind.rawValue)")
        }
        let tags = event.tags(named: "h")
        guard tags.count == 1, let id = tags[0].value.flatMap({ Bytes32(hex: $0) }) else {
            throw MarmotError(.badTag, "a group event needs exactly one h tag of 64 hex digits (MIP-03)")
        }
        return id
    }

    /// Returns the earliest local time at which the event is accepted (MIP-03).
    public static func dueTime(of event: Event, profile: MarmotProfile = .mip) -> UnixTime {
        // checked: UnixTime stays within its range
        event.createdAt - profile.maximumFuture
    }

    /// Refuses events that are too old (MIP-03).
    static func checkAge(_ event: Event, profile: MarmotProfile, now: UnixTime) throws(MarmotError) {
        guard event.createdAt >= now - profile.maximumAge else {
            throw MarmotError(.badTime, "the event is more than 45 days old (MIP-03)")
        }
    }
}
