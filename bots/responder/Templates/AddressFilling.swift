import BotKit

extension Template {
    /// The rounds of percent-encoding that servers and proxies in front of them may decode, plus one.
    private static let rounds = 4

    /// Returns the URL with its values filled in, percent-encoded.
    ///
    /// The path segments `.` and `..` refer to other paths, encoded or not (RFC 3986 §5.2.4 and §6.2.2.2), and no
    /// encoding prevents that. Throws `BotError.Code.addressRefused` if the values create such a segment, by
    /// themselves or together with the text around them, for any character that may act as a slash and any number of
    /// decoding rounds.
    func filledAddress(_ value: (Placeholder) -> String) throws(BotError) -> String {
        let address = filled(value, encode: \.percentEncoded)
        // Such segments in the configured URL itself are intentional.
        let meant = Self.dotSegments(in: filled { _ in "x" })
        guard Self.dotSegments(in: address) <= meant else {
            throw BotError(.addressRefused, "the inserted text would change the path of the URL")
        }
        return address
    }

    private static func dotSegments(in address: String) -> Int {
        let afterScheme = address.firstRange(of: "://").map { address[$0.upperBound...] } ?? address[...]
        let path = afterScheme.prefix { $0 != "?" && $0 != "#" }.drop { $0 != "/" }
        var bytes = Array(path.utf8)
        for _ in 0..<rounds { bytes = decoded(bytes) }
        let separators = Array("/\\".utf8)
        return bytes.split { separators.contains($0) }
            // Some servers strip whitespace and anything after a semicolon before they interpret the segment.
            .map { $0.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > UInt8(ascii: " ") } }
            .count { $0 == [UInt8(ascii: ".")] || $0 == [UInt8(ascii: "."), UInt8(ascii: ".")] }
    }

    /// Decodes one round of percent-encoding, keeping invalid sequences.
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
