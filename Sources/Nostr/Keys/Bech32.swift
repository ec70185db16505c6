/// Bech32 encoding (BIP-173) with the limit of 90 characters raised to NIP-19's 5000.
enum Bech32 {
    static let maximumLength = 5000

    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let generator: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]

    static func encode(prefix: String, _ bytes: [UInt8]) -> String {
        let data = regroup(bytes, from: 8, to: 5, pad: true) ?? []
        let expanded = expand(prefix)
        let rest = polymod(expanded + data + [UInt8](repeating: 0, count: 6)) ^ 1
        let shifts: [UInt32] = [25, 20, 15, 10, 5, 0]
        let checksum = shifts.map { shift in UInt8(truncatingIfNeeded: rest >> shift) & 31 }
        return prefix + "1" + String(decoding: (data + checksum).map { alphabet[Int($0)] }, as: UTF8.self)
    }

    static func decode(_ text: String) throws(NostrError) -> (prefix: String, bytes: [UInt8]) {
        let characters = Array(text.utf8)
        guard characters.count <= maximumLength else { throw invalid("longer than \(maximumLength) characters") }
        guard characters.allSatisfy({ (33...126).contains($0) }) else { throw invalid("character out of range") }
        let hasLower = characters.contains { (0x61...0x7a).contains($0) }
        let hasUpper = characters.contains { (0x41...0x5a).contains($0) }
        guard !(hasLower && hasUpper) else { throw invalid("mixed case") }
        let lower = hasUpper ? characters.map { (0x41...0x5a).contains($0) ? $0 + 32 : $0 } : characters
        guard let separator = lower.lastIndex(of: UInt8(ascii: "1")), separator > 0, separator + 7 <= lower.count
        else { throw invalid("missing prefix or checksum") }
        var values: [UInt8] = []
        // The values may belong to a secret key.
        defer { Sodium.wipe(&values) }
        for character in lower[(separator + 1)...] {
            guard let value = alphabet.firstIndex(of: character) else { throw invalid("character out of range") }
            values.append(UInt8(value))
        }
        let prefix = String(decoding: lower[..<separator], as: UTF8.self)
        guard polymod(expand(prefix) + values) == 1 else { throw invalid("wrong checksum") }
        guard let bytes = regroup(values.dropLast(6), from: 5, to: 8, pad: false) else {
            throw invalid("leftover bits")
        }
        return (prefix, bytes)
    }

    private static func invalid(_ reason: String) -> NostrError { NostrError(.invalidBech32, "Bech32: \(reason)") }

    private static func expand(_ prefix: String) -> [UInt8] {
        prefix.utf8.map { $0 >> 5 } + [0] + prefix.utf8.map { $0 & 31 }
    }

    private static func polymod(_ values: [UInt8]) -> UInt32 {
        var checksum: UInt32 = 1
        for value in values {
            let top = checksum >> 25
            checksum = (checksum & 0x1ff_ffff) << 5 ^ UInt32(value)
            for bit in 0..<5 where top >> UInt32(bit) & 1 == 1 { checksum ^= generator[bit] }
        }
        return checksum
    }

    /// Converts between bit groups; nil if unpadded input leaves more bits than a group, or bits that are not zero.
    private static func regroup(_ values: some Sequence<UInt8>, from: UInt32, to: UInt32, pad: Bool) -> [UInt8]? {
        var held: UInt32 = 0
        var bits: UInt32 = 0
        let mask: UInt32 = 1 << to - 1
        var output: [UInt8] = []
        for value in values {
            held = (held << from | UInt32(value)) & 0xfff
            bits += from
            while bits >= to {
                bits -= to
                output.append(UInt8(held >> bits & mask))
            }
        }
        let rest = held << (to - bits) & mask
        if pad {
            if bits > 0 { output.append(UInt8(rest)) }
        } else if bits >= from || rest != 0 {
            return nil
        }
        return output
    }
}
