import MLS

/// One frame of a call's track: 20 ms of audio, a video frame or a piece of data (docs/protocol/marmot.md §9.5).
struct CallFrame: Sendable, Hashable {
    /// Increases by one with every frame under the same key.
    var counter: UInt32
    /// The number of the transport's group, from 0; each group has one frame.
    var sequence: UInt64
    var index: UInt32 = 0
    var isKeyframe: Bool
    var payload: [UInt8]
}

/// The reason why a frame cannot be sealed or opened, in the order of the checks.
enum CallFrameError: Error, Hashable, Sendable {
    /// Shorter than a header and a tag.
    case tooShort
    /// Longer than ``CallFrame/maximumPayload`` allows.
    case tooLarge
    case unknownVersion(UInt8)
    /// The key id is another sender's.
    case wrongKey(UInt64)
    case wrongGeneration(UInt8)
    case wrongEpoch(UInt64)
    /// Not sealed with this key for this track, or modified in transit.
    case notAuthentic
}

extension CallFrame {
    static let version: UInt8 = 1
    /// Version, key id, generation, epoch, counter, sequence, index and flags.
    static let headerLength = 35
    /// The maximum size of a payload in bytes: ten times the size of a video frame at 1.5 Mbit/s.
    static let maximumPayload = 1 << 20
    private static let keyframeFlag: UInt8 = 1

    /// Returns header, ciphertext and tag. A counter must not be reused under the same keys.
    func sealed(with keys: CallTrackKeys) throws -> [UInt8] {
        guard self.payload.count <= Self.maximumPayload else { throw CallFrameError.tooLarge }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.headerLength + self.payload.count + AES128GCM.tagLength)
        bytes.append(Self.version)
        bytes.append(bigEndian: keys.keyID)
        bytes.append(keys.generation)
        bytes.append(bigEndian: keys.epoch)
        bytes.append(bigEndian: self.counter)
        bytes.append(bigEndian: self.sequence)
        bytes.append(bigEndian: self.index)
        bytes.append(self.isKeyframe ? Self.keyframeFlag : 0)
        bytes += try AES128GCM.seal(
            self.payload, key: keys.key, nonce: self.nonce(keys), additionalData: self.additionalData(keys))
        return bytes
    }

    /// Opens a frame of the keys' sender; flags other than the first are ignored, as in Pika.
    init(sealed bytes: [UInt8], with keys: CallTrackKeys) throws(CallFrameError) {
        guard bytes.count >= Self.headerLength + AES128GCM.tagLength else { throw .tooShort }
        guard bytes.count <= Self.headerLength + Self.maximumPayload + AES128GCM.tagLength else { throw .tooLarge }
        guard bytes[0] == Self.version else { throw .unknownVersion(bytes[0]) }
        let keyID: UInt64 = bytes.bigEndian(at: 1)
        guard keyID == keys.keyID else { throw .wrongKey(keyID) }
        guard bytes[9] == keys.generation else { throw .wrongGeneration(bytes[9]) }
        let epoch: UInt64 = bytes.bigEndian(at: 10)
        guard epoch == keys.epoch else { throw .wrongEpoch(epoch) }
        self.init(
            counter: bytes.bigEndian(at: 18), sequence: bytes.bigEndian(at: 22), index: bytes.bigEndian(at: 30),
            isKeyframe: bytes[34] & Self.keyframeFlag != 0, payload: [])
        let ciphertext = Array(bytes[Self.headerLength...])
        do {
            self.payload = try AES128GCM.open(
                ciphertext, key: keys.key, nonce: self.nonce(keys), additionalData: self.additionalData(keys))
        } catch { throw .notAuthentic }
    }

    /// Returns the salt with its last four bytes XORed with the counter.
    private func nonce(_ keys: CallTrackKeys) -> [UInt8] {
        var nonce = keys.salt.copyBytes()
        withUnsafeBytes(of: self.counter.bigEndian) { counter in
            for (offset, byte) in counter.enumerated() { nonce[nonce.count - 4 + offset] ^= byte }
        }
        return nonce
    }

    /// Returns the additional authenticated data; its fields are not in the order of the header.
    private func additionalData(_ keys: CallTrackKeys) -> [UInt8] {
        var data: [UInt8] = [Self.version]
        data.append(bigEndian: keys.keyID)
        data.append(keys.generation)
        data.append(bigEndian: keys.epoch)
        data += keys.root.copyBytes()
        let track = Array(keys.track.utf8)
        data.append(bigEndian: UInt16(truncatingIfNeeded: track.count))
        data += track
        data.append(bigEndian: self.sequence)
        data.append(bigEndian: self.index)
        data.append(bigEndian: self.counter)
        data.append(self.isKeyframe ? Self.keyframeFlag : 0)
        return data
    }
}

extension [UInt8] {
    fileprivate mutating func append(bigEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { self.append(contentsOf: $0) }
    }

    fileprivate func bigEndian<Value: FixedWidthInteger>(at offset: Int) -> Value {
        self[offset..<offset + Value.bitWidth / 8].reduce(0) { $0 << 8 | Value($1) }
    }
}
