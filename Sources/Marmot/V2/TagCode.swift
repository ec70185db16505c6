/// A registry number as tags and messages write it: `0x` and four lower-case hexadecimal digits.
enum TagCode {
    /// Returns `0x` and four digits.
    static func text(_ number: UInt16) -> String {
        let digits = String(number, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }

    /// Parses `0x` and exactly four lower-case digits; nil for any other text.
    static func number(_ text: String) -> UInt16? {
        guard let number = UInt16(text.dropFirst(2), radix: 16), self.text(number) == text else { return nil }
        return number
    }
}
