/// NIP-19 entities with more than one value, encoded as type-length-value triples.
extension NIP19 {
    private enum Field: UInt8 {
        case special = 0
        case relay = 1
        case author = 2
        case kind = 3
    }

    /// Decodes any public entity. Throws `NostrError.Code.invalidBech32` if the text or its content is invalid, and
    /// `NostrError.Code.unexpectedPrefix` for secret keys and unknown entities.
    public static func decode(_ text: String) throws(NostrError) -> Entity {
        let (prefix, bytes) = try Bech32.decode(text)
        switch prefix {
        case Prefix.publicKey: return .publicKey(PublicKey(value: try value(of: bytes)))
        case Prefix.note: return .note(EventID(value: try value(of: bytes)))
        case Prefix.profile:
            let fields = try Fields(bytes)
            let key = PublicKey(value: try value(of: try fields.special()))
            return .profile(Profile(publicKey: key, relays: fields.relays))
        case Prefix.event:
            let fields = try Fields(bytes)
            let id = EventID(value: try value(of: try fields.special()))
            return .event(
                EventPointer(id: id, relays: fields.relays, author: try fields.author(), kind: try fields.kind()))
        case Prefix.address: return .address(try address(Fields(bytes)))
        case Prefix.secretKey: throw NostrError(.unexpectedPrefix, "expected a public entity, found a secret key")
        default: throw NostrError(.unexpectedPrefix, "unknown entity prefix \(prefix.prefix(16))")
        }
    }

    private static func address(_ fields: Fields) throws(NostrError) -> AddressPointer {
        guard let author = try fields.author(), let kind = try fields.kind() else {
            throw NostrError(.invalidBech32, "the address lacks its author or kind")
        }
        guard let identifier = String(validating: try fields.special(), as: UTF8.self) else {
            throw NostrError(.invalidBech32, "the address's identifier is not UTF-8")
        }
        return AddressPointer(
            address: EventAddress(kind: kind, pubkey: author, identifier: identifier), relays: fields.relays)
    }

    /// Encodes a profile, leaving out relays longer than 255 bytes, which the format cannot hold.
    public static func encode(_ profile: Profile) -> String {
        Bech32.encode(prefix: Prefix.profile, field(.special, profile.publicKey.bytes) + relays(profile.relays))
    }

    /// Encodes an event pointer, leaving out relays longer than 255 bytes, which the format cannot hold.
    public static func encode(_ event: EventPointer) -> String {
        var bytes = field(.special, event.id.bytes) + relays(event.relays)
        if let author = event.author { bytes += field(.author, author.bytes) }
        if let kind = event.kind { bytes += self.kind(kind) }
        return Bech32.encode(prefix: Prefix.event, bytes)
    }

    /// Encodes an address pointer; nil if the identifier is longer than 255 bytes, which the format cannot hold. Leaves
    /// out longer relays.
    public static func encode(_ pointer: AddressPointer) -> String? {
        let identifier = Array(pointer.address.identifier.utf8)
        guard identifier.count <= 255 else { return nil }
        let bytes =
            field(.special, identifier) + relays(pointer.relays) + field(.author, pointer.address.pubkey.bytes)
            + kind(pointer.address.kind)
        return Bech32.encode(prefix: Prefix.address, bytes)
    }

    private static func field(_ type: Field, _ value: [UInt8]) -> [UInt8] {
        [type.rawValue, UInt8(value.count)] + value
    }

    private static func relays(_ relays: [String]) -> [UInt8] {
        relays.map { Array($0.utf8) }.filter { $0.count <= 255 }.flatMap { field(.relay, $0) }
    }

    private static func kind(_ kind: Kind) -> [UInt8] {
        field(.kind, [0, 0, UInt8(kind.rawValue >> 8), UInt8(kind.rawValue & 0xff)])
    }

    /// Triples of one entity; unknown types are ignored.
    private struct Fields {
        private var values: [(type: UInt8, value: [UInt8])] = []

        init(_ bytes: [UInt8]) throws(NostrError) {
            var rest = bytes[...]
            while !rest.isEmpty {
                guard rest.count >= 2 else { throw NostrError(.invalidBech32, "a field is truncated") }
                let type = rest.removeFirst()
                let length = Int(rest.removeFirst())
                guard rest.count >= length else { throw NostrError(.invalidBech32, "a field is truncated") }
                values.append((type, Array(rest.prefix(length))))
                rest = rest.dropFirst(length)
            }
        }

        private func first(_ type: Field) -> [UInt8]? { values.first { $0.type == type.rawValue }?.value }

        func special() throws(NostrError) -> [UInt8] {
            guard let value = first(.special) else { throw NostrError(.invalidBech32, "the entity has no content") }
            return value
        }

        var relays: [String] {
            values.filter { $0.type == Field.relay.rawValue }.compactMap { String(validating: $0.value, as: UTF8.self) }
        }

        func author() throws(NostrError) -> PublicKey? {
            guard let bytes = first(.author) else { return nil }
            return PublicKey(value: try NIP19.value(of: bytes))
        }

        func kind() throws(NostrError) -> Kind? {
            guard let bytes = first(.kind) else { return nil }
            guard bytes.count == 4, bytes[0] == 0, bytes[1] == 0 else {
                throw NostrError(.invalidBech32, "invalid kind")
            }
            return Kind(rawValue: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        }
    }
}
