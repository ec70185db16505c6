public import TLSCodec

// struct {
//   PSKType psktype;
//   select (PreSharedKeyID.psktype) {
//     case external:   opaque psk_id<V>;
//     case resumption: ResumptionPSKUsage usage; opaque psk_group_id<V>; uint64 psk_epoch;
//   };
//   opaque psk_nonce<V>;
// } PreSharedKeyID;

/// Identifier of a pre-shared key mixed into an epoch (RFC 9420 §8.4).
public struct PreSharedKeyID: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Purpose of a resumption PSK (RFC 9420 §8.6).
    public enum ResumptionUsage: UInt8, Sendable {
        /// Mixed into an epoch by an application.
        case application = 1
        /// Links a group to the one that it reinitializes (RFC 9420 §11.2).
        case reinit = 2
        /// Links a subgroup to the group from which it branches (RFC 9420 §11.3).
        case branch = 3
    }

    /// Origin and name of a pre-shared key.
    public enum Key: Hashable, Sendable {
        /// A key that the application distributes, by the application's id for it.
        case external(id: [UInt8])
        /// The resumption PSK of a group's epoch (RFC 9420 §8.6).
        case resumption(usage: ResumptionUsage, groupID: GroupID, epoch: Epoch)
    }

    /// Key to mix in.
    public var key: Key
    /// Random bytes, fresh for each use; KDF.Nh of them in a valid proposal.
    public var nonce: [UInt8]

    /// Creates an id from its two parts.
    public init(key: Key, nonce: [UInt8]) {
        self.key = key
        self.nonce = nonce
    }

    /// Decodes an id; refuses unknown PSK types and usages.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        switch try reader.readUInt8() {
        case 1: self.key = .external(id: try reader.readOpaque())
        case 2:
            let usageOffset = reader.offset
            let number = try reader.readUInt8()
            guard let usage = ResumptionUsage(rawValue: number) else {
                throw TLSCodecError(.invalidValue, offset: usageOffset, "resumption PSK usage \(number) is not 1 to 3")
            }
            let groupID = GroupID(try reader.readOpaque())
            self.key = .resumption(usage: usage, groupID: groupID, epoch: try Epoch(from: &reader))
        case let other: throw TLSCodecError(.invalidValue, offset: start, "PSK type \(other) is not 1 or 2")
        }
        self.nonce = try reader.readOpaque()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        switch self.key {
        case .external(let id):
            writer.write(UInt8(1))
            writer.writeOpaque(id)
        case .resumption(let usage, let groupID, let epoch):
            writer.write(UInt8(2))
            writer.write(usage.rawValue)
            writer.writeOpaque(groupID.bytes)
            epoch.encode(to: &writer)
        }
        writer.writeOpaque(self.nonce)
    }
}

/// Pre-shared key with its id; lists are in the order of the proposals.
public struct PreSharedKey: Sendable {
    /// Id of the key, as in the proposal.
    public let id: PreSharedKeyID
    /// Value of the key, of any length.
    public let secret: Secret

    /// Creates a pre-shared key from its id and value.
    public init(id: PreSharedKeyID, secret: Secret) {
        self.id = id
        self.secret = secret
    }
}

extension MLSGroup {
    /// Returns an id for injecting a PSK once, with a random nonce of KDF.Nh bytes (RFC 9420 §8.4).
    func freshID(of key: PreSharedKeyID.Key, using rng: inout some RandomNumberGenerator) -> PreSharedKeyID {
        // V8.4-2: Every injection has a fresh psk_nonce.
        // V12.1.4-2: The psk_nonce is sampled at random.
        PreSharedKeyID(key: key, nonce: rng.bytes(self.cipherSuite.hashLength))
    }
}

// struct {
//     PreSharedKeyID id;
//     uint16 index;
//     uint16 count;
// } PSKLabel;

extension CipherSuite {
    /// Returns psk_secret of RFC 9420 §8.4; all zeros without PSKs.
    ///
    /// - Throws: `MLSError.Code.unknownPSK` for more keys than PSKLabel can count.
    func pskSecret(_ keys: [PreSharedKey]) throws(MLSError) -> Secret {
        guard let count = UInt16(exactly: keys.count) else {
            throw MLSError(.unknownPSK, "expected at most \(UInt16.max) PSKs, found \(keys.count) (RFC 9420 §8.4)")
        }
        let zero = Secret(count: self.hashLength) { _ in }
        var result = zero
        // V8.4-1: The order of the PSKs is part of the secret.
        for (index, key) in zip(0..<count, keys) {
            let extracted = self.hash.extract(salt: zero, inputKeyMaterial: key.secret)
            var label = TLSWriter()
            key.id.encode(to: &label)
            label.write(index)
            label.write(count)
            let input = self.expandWithLabel(extracted, "derived psk", context: label.bytes, length: self.hashLength)
            result = self.hash.extract(salt: input, inputKeyMaterial: result)
        }
        return result
    }
}
