import CSodium

/// HMAC (RFC 2104) and HKDF (RFC 5869) on swift-crypto's hash functions.
///
/// swift-crypto's own HMAC allocates several times per call and costs four times as much; each message needs eight
/// calls.
extension HashAlgorithm {
    /// Returns the HMAC of the concatenation of `parts` under `key` as a new secret, truncated to `count` bytes if
    /// given.
    func hmac(key: UnsafeRawBufferPointer, _ parts: [UnsafeRawBufferPointer], truncatedTo count: Int? = nil) -> Secret {
        let size = self.blockLength
        return withUnsafeTemporaryAllocation(byteCount: size, alignment: 16) { pad in
            defer { if let base = pad.baseAddress { sodium_memzero(base, size) } }
            pad.initializeMemory(as: UInt8.self, repeating: 0)
            if key.count > size {
                var long = HashState(self)
                long.update(key)
                long.withDigest { pad.copyMemory(from: $0) }
            } else {
                pad.copyMemory(from: key)
            }
            for index in 0..<size { pad[index] ^= 0x36 }
            var inner = HashState(self)
            inner.update(UnsafeRawBufferPointer(pad))
            for part in parts { inner.update(part) }
            for index in 0..<size { pad[index] ^= 0x36 ^ 0x5C }
            var outer = HashState(self)
            outer.update(UnsafeRawBufferPointer(pad))
            inner.withDigest { outer.update($0) }
            return outer.withDigest { digest in
                Secret(count: count ?? digest.count) {
                    $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: digest[..<$0.count]))
                }
            }
        }
    }

    /// Returns the HMAC of `message` under `key`.
    func hmac(key: Secret, _ message: [UInt8]) -> [UInt8] {
        key.withUnsafeBytes { key in
            message.withUnsafeBytes { self.hmac(key: key, [$0]).copyBytes() }
        }
    }

    /// Returns HKDF-Extract(salt, ikm), RFC 5869 §2.2.
    func extract(salt: Secret, inputKeyMaterial: Secret) -> Secret {
        salt.withUnsafeBytes { salt in
            inputKeyMaterial.withUnsafeBytes { self.hmac(key: salt, [$0]) }
        }
    }

    /// Returns HKDF-Expand(prk, info, length), RFC 5869 §2.3; `length` is at most 255 digests.
    func expand(_ pseudorandomKey: Secret, info: [UInt8], length: Int) -> Secret {
        pseudorandomKey.withUnsafeBytes { key in
            info.withUnsafeBytes { info in
                let first: [UInt8] = [1]
                if length <= self.length {
                    return first.withUnsafeBytes { self.hmac(key: key, [info, $0], truncatedTo: length) }
                }
                return self.expandLong(key: key, info: info, length: length)
            }
        }
    }

    private func expandLong(key: UnsafeRawBufferPointer, info: UnsafeRawBufferPointer, length: Int) -> Secret {
        precondition(length <= 255 * self.length, "HKDF-Expand outputs at most 255 digests")
        return Secret(count: length) { output in
            var previous = Secret(count: 0) { _ in }
            var counter: UInt8 = 0
            var written = 0
            while written < length {
                counter += 1
                previous = previous.withUnsafeBytes { previous in
                    [counter].withUnsafeBytes { self.hmac(key: key, [previous, info, $0]) }
                }
                let count = min(self.length, length - written)
                previous.withUnsafeBytes { block in
                    UnsafeMutableRawBufferPointer(rebasing: output[written..<written + count])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: block[..<count]))
                }
                written += count
            }
        }
    }
}
