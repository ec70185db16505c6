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
        case application = 1
        case reinit = 2
        case branch = 3
    }

    public enum Key: Hashable, Sendable {
        case external(id: [UInt8])
        case resumption(usage: ResumptionUsage, groupID: [UInt8], epoch: Epoch)
    }

    public var key: Key
    public var nonce: [UInt8]

    public init(key: Key, nonce: [UInt8]) {
        self.key = key
        self.nonce = nonce
    }

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
            self.key = .resumption(usage: usage, groupID: try reader.readOpaque(), epoch: try Epoch(from: &reader))
        case let other: throw TLSCodecError(.invalidValue, offset: start, "PSK type \(other) is not 1 or 2")
        }
        self.nonce = try reader.readOpaque()
    }

    public func encode(to writer: inout TLSWriter) {
        switch self.key {
        case .external(let id):
            writer.write(UInt8(1))
            writer.writeOpaque(id)
        case .resumption(let usage, let groupID, let epoch):
            writer.write(UInt8(2))
            writer.write(usage.rawValue)
            writer.writeOpaque(groupID)
            epoch.encode(to: &writer)
        }
        writer.writeOpaque(self.nonce)
    }
}

/// Pre-shared key with its id; lists are in the order of the proposals.
public struct PreSharedKey: Sendable {
    public let id: PreSharedKeyID
    public let secret: Secret

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
    /// - Throws: ``MLSError/Code/unknownPSK`` for more keys than PSKLabel can count.
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
