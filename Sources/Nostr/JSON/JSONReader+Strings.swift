extension JSONReader {
    mutating func string() throws(NostrError) -> String {
        guard try peek() == UInt8(ascii: "\"") else { throw unexpected("a string") }
        let start = position + 1
        position = JSONText.nextSpecial(in: input, from: start)
        guard position < input.count else { throw truncated }
        guard input[position] == UInt8(ascii: "\"") else { return try escapedString(from: start) }
        let bytes = UnsafeBufferPointer(rebasing: input[start..<position])
        guard let text = JSONReader.text(bytes) else { throw malformed("invalid UTF-8 before") }
        position += 1
        return text
    }

    /// Returns a text; nil if it is not valid UTF-8. The library's validation is not specialized, so ASCII avoids it.
    private static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        let isASCII = bytes.reduce(0 as UInt8, |) < 0x80
        return isASCII ? String(decoding: bytes, as: UTF8.self) : String(validating: bytes, as: UTF8.self)
    }

    /// Reads a string of exactly 64 lower-case hexadecimal digits.
    mutating func hex32() throws(NostrError) -> Bytes32 {
        try hex(64) { Bytes32(digits: $0, lowercaseOnly: true) }
    }

    /// Reads a string of exactly 128 lower-case hexadecimal digits.
    mutating func signature() throws(NostrError) -> Signature {
        try hex(128) { Signature(digits: $0, lowercaseOnly: true) }
    }

    private mutating func hex<Value>(
        _ digits: Int, _ make: (UnsafeBufferPointer<UInt8>) -> Value?
    ) throws(NostrError) -> Value {
        guard try peek() == UInt8(ascii: "\"") else { throw unexpected("a string") }
        let start = position + 1
        if input.count > start + digits, input[start + digits] == UInt8(ascii: "\""),
            let value = make(UnsafeBufferPointer(rebasing: input[start..<start + digits]))
        {
            position = start + digits + 1
            return value
        }
        // Escapes may spell digits too, which is rare enough for the slow path.
        var text = try string()
        guard let value = text.withUTF8({ make($0) }) else {
            throw NostrError(.invalidHex, "expected \(digits) lower-case hexadecimal digits at byte \(start)")
        }
        return value
    }

    /// Reads the rest of a string, with `position` at the first byte that is not plain.
    private mutating func escapedString(from start: Int) throws(NostrError) -> String {
        var bytes: [UInt8] = []
        var runStart = start
        while true {
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: input[runStart..<position]))
            guard position < input.count else { throw truncated }
            switch input[position] {
            case UInt8(ascii: "\""):
                guard let text = String(validating: bytes, as: UTF8.self) else {
                    throw malformed("invalid UTF-8 before")
                }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                try escape(into: &bytes)
            default:
                throw malformed("unescaped control character")
            }
            runStart = position
            position = JSONText.nextSpecial(in: input, from: position)
        }
    }

    private mutating func escape(into bytes: inout [UInt8]) throws(NostrError) {
        guard position + 1 < input.count else { throw truncated }
        let letter = input[position + 1]
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(letter)
        case UInt8(ascii: "n"): bytes.append(0x0a)
        case UInt8(ascii: "r"): bytes.append(0x0d)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0c)
        case UInt8(ascii: "u"):
            try unicodeEscape(into: &bytes)
            return
        default: throw malformed("unknown escape")
        }
        position += 2
    }

    private mutating func unicodeEscape(into bytes: inout [UInt8]) throws(NostrError) {
        let first = try codeUnit()
        var scalar = UInt32(first)
        if (0xd800...0xdbff).contains(first) {
            guard position < input.count else { throw truncated }
            guard input[position] == UInt8(ascii: "\\") else { throw malformed("unpaired surrogate") }
            let second = try codeUnit()
            guard (0xdc00...0xdfff).contains(second) else { throw malformed("unpaired surrogate") }
            scalar = 0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
        }
        guard let value = Unicode.Scalar(scalar) else { throw malformed("unpaired surrogate") }
        bytes.append(contentsOf: UTF8.encode(value).map { Array($0) } ?? [])
    }

    private mutating func codeUnit() throws(NostrError) -> UInt16 {
        guard position + 1 < input.count else { throw truncated }
        guard input[position + 1] == UInt8(ascii: "u") else { throw malformed("unpaired surrogate") }
        guard position + 6 <= input.count else { throw truncated }
        var value: UInt16 = 0
        for offset in 2..<6 {
            guard let digit = Hex.value(of: input[position + offset]) else { throw malformed("unknown escape") }
            value = value << 4 | UInt16(digit)
        }
        position += 6
        return value
    }
}
