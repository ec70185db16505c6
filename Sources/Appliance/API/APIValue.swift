/// A value of the API with bounds that its JSON form alone does not express.
package protocol APIValue: Hashable, Sendable, Codable {
    /// Throws `ApplianceError.Code.malformed` for a value outside its bounds.
    func validate() throws(ApplianceError)
}

/// Checks of single fields. Errors name the field, never its content.
enum Bounds {
    /// The largest integer that every JSON reader represents exactly, 2^53 − 1.
    static let largestRevision = 9_007_199_254_740_991

    /// Throws unless the text has a length in bytes and no control characters other than line breaks and tabs.
    static func text(_ text: String, _ bytes: ClosedRange<Int>, _ field: String) throws(ApplianceError) {
        guard bytes.contains(text.utf8.count) else {
            throw ApplianceError(
                .malformed,
                "\(field): expected \(bytes.lowerBound) to \(bytes.upperBound) bytes, found \(text.utf8.count)")
        }
        guard text.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F || $0 == "\n" || $0 == "\t" })
        else {
            throw ApplianceError(.malformed, "\(field): expected no control characters")
        }
    }

    /// Throws unless the text can be part of a path: ASCII letters, digits, `.`, `_`, `-` and `:`, not only dots.
    static func identifier(_ text: String, _ field: String, longest: Int = 64) throws(ApplianceError) {
        guard Self.isIdentifier(text, longest: longest) else {
            throw ApplianceError(.malformed, "\(field): expected 1 to \(longest) letters, digits and . _ - :")
        }
    }

    static func isIdentifier(_ text: String, longest: Int = 64) -> Bool {
        (1...longest).contains(text.utf8.count) && text.utf8.contains { $0 != UInt8(ascii: ".") }
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                case UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: ":"): true
                default: false
                }
            }
    }

    /// Throws unless the text is an absolute path of identifiers, so that it cannot leave the API's host.
    static func path(_ text: String, _ field: String) throws(ApplianceError) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard text.utf8.count <= 200, parts.count >= 2, parts[0].isEmpty,
            parts.dropFirst().allSatisfy({ Self.isIdentifier(String($0)) })
        else { throw ApplianceError(.malformed, "\(field): expected a path such as /v1/recipes/dal/image") }
    }

    static func number<Number: Comparable>(
        _ number: Number, _ range: ClosedRange<Number>, _ field: String
    ) throws(ApplianceError) {
        guard range.contains(number) else {
            throw ApplianceError(.malformed, "\(field): expected \(range.lowerBound) to \(range.upperBound)")
        }
    }

    static func list(_ values: [some APIValue], _ most: Int, _ field: String) throws(ApplianceError) {
        guard values.count <= most else { throw Self.tooMany(field, most) }
        for value in values { try value.validate() }
    }

    static func tooMany(_ field: String, _ most: Int) -> ApplianceError {
        ApplianceError(.malformed, "\(field): expected at most \(most) elements")
    }
}
