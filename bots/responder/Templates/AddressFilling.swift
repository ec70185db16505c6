import BotKit

extension Template {
    /// Rounds of percent-encoding that servers and what stands before them might take off, and one more.
    private static let rounds = 4

    /// The address with its values filled in, percent-encoded.
    ///
    /// A path's segments `.` and `..` mean other paths, encoded or not (RFC 3986 §5.2.4 and §6.2.2.2), and no encoding
    /// takes this meaning away. Throws ``BotError/Code/addressRefused`` if the values make such a segment, by
    /// themselves or together with the text around them, whatever is taken for a slash and however often it is decoded.
    func filledAddress(_ value: (Placeholder) -> String) throws(BotError) -> String {
        let address = filled(value, encode: \.percentEncoded)
        // Those that the configuration has itself are meant.
        let meant = Self.dotSegments(in: filled { _ in "x" })
        guard Self.dotSegments(in: address) <= meant else {
            throw BotError(.addressRefused, "what is filled in would lead to another path of the address")
        }
        return address
    }

    private static func dotSegments(in address: String) -> Int {
        let afterScheme = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        let path = afterScheme.prefix { $0 != "?" && $0 != "#" }.drop { $0 != "/" }
        var bytes = Array(path.utf8)
        for _ in 0..<rounds { bytes = decoded(bytes) }
        return bytes.split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }
            // Some servers leave out what follows a semicolon, and blanks, before they look at the segment.
            .map { $0.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > UInt8(ascii: " ") } }
            .count { $0 == [UInt8(ascii: ".")] || $0 == [UInt8(ascii: "."), UInt8(ascii: ".")] }
    }

    /// Without one round of percent-encoding; what is none is left.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2)
            let isDigits = digits.count == 2 && digits.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
            if byte == UInt8(ascii: "%"), isDigits,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                decoded.append(value)
                rest = rest.dropFirst(2)
            } else {
                decoded.append(byte)
            }
        }
        return decoded
    }
}
