/// Standard Base64 (RFC 4648 §4): `+` and `/`, always padded, no line breaks.
public enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static let values: [UInt8] = {
        var table = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { table[Int(character)] = UInt8(value) }
        return table
    }()

    private static let padding = UInt8(ascii: "=")
    private static let invalid: UInt8 = 0xff

    /// Returns the padded Base64 text of the bytes, four characters per three bytes.
    public static func encode(_ bytes: [UInt8]) -> String {
        let groups = (bytes.count + 2) / 3
        return String(unsafeUninitializedCapacity: groups * 4) { output in
            alphabet.withUnsafeBufferPointer { alphabet in
                var at = 0
                for start in stride(from: 0, to: bytes.count, by: 3) {
                    let left = bytes.count - start
                    let second = left > 1 ? bytes[start + 1] : 0
                    let third = left > 2 ? bytes[start + 2] : 0
                    let group = UInt32(bytes[start]) << 16 | UInt32(second) << 8 | UInt32(third)
                    output[at] = alphabet[Int(group >> 18)]
                    output[at + 1] = alphabet[Int(group >> 12 & 63)]
                    output[at + 2] = left > 1 ? alphabet[Int(group >> 6 & 63)] : padding
                    output[at + 3] = left > 2 ? alphabet[Int(group & 63)] : padding
                    at += 4
                }
            }
            return groups * 4
        }
    }

    /// Decodes Base64. Nil for any character outside the alphabet (including whitespace), missing or misplaced padding,
    /// and unused bits that are not zero, so every byte string has exactly one valid encoding.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let whole = text.utf8.withContiguousStorageIfAvailable { decode($0) }
        return whole ?? Array(text.utf8).withUnsafeBufferPointer { decode($0) }
    }

    private static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count.isMultiple(of: 4) else { return nil }
        guard !text.isEmpty else { return [] }
        let pads = text[text.count - 1] == padding ? (text[text.count - 2] == padding ? 2 : 1) : 0
        let size = text.count / 4 * 3 - pads
        var sound = true
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            sound = values.withUnsafeBufferPointer { fill(output, from: text, pads: pads, values: $0) }
            count = sound ? size : 0
        }
        return sound ? bytes : nil
    }

    private static func fill(
        _ output: UnsafeMutableBufferPointer<UInt8>, from text: UnsafeBufferPointer<UInt8>, pads: Int,
        values: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var at = 0
        // All values are below 64, so a set top bit in the union marks a character outside the alphabet.
        var union: UInt8 = 0
        let whole = pads == 0 ? text.count : text.count - 4
        for start in stride(from: 0, to: whole, by: 4) {
            let (a, b) = (values[Int(text[start])], values[Int(text[start + 1])])
            let (c, d) = (values[Int(text[start + 2])], values[Int(text[start + 3])])
            union |= a | b | c | d
            output[at] = a << 2 | b >> 4
            output[at + 1] = b << 4 | c >> 2
            output[at + 2] = c << 6 | d
            at += 3
        }
        guard pads > 0 else { return union < 64 }
        let (a, b) = (values[Int(text[whole])], values[Int(text[whole + 1])])
        let c = pads == 1 ? values[Int(text[whole + 2])] : 0
        output[at] = a << 2 | b >> 4
        if pads == 1 { output[at + 1] = b << 4 | c >> 2 }
        let spare = pads == 1 ? c & 3 : b & 15
        return (union | a | b | c) < 64 && spare == 0
    }
}
