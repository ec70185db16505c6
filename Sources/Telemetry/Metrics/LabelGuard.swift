/// Keeps identifiers of people, groups and events, and user-written text, out of labels, since metrics leave the
/// machine.
package enum LabelGuard {
    /// The replacement of a rejected value.
    package static let withheld = "withheld"
    /// The maximum length of a value in bytes; longer ones are replaced entirely.
    package static let longestValue = 64
    /// The number of consecutive hexadecimal digits that counts as a key or an id; chat ids in logs are cut to eight.
    static let hexadecimalRun = 16
    /// Human-readable parts of NIP-19 and NIP-49, with the separator.
    private static let bech32Prefixes = [
        "npub1", "nsec1", "note1", "nprofile1", "nevent1", "naddr1", "nrelay1", "ncryptsec1",
    ]

    /// Returns whether a label may have this value.
    package static func admits(_ value: String) -> Bool {
        var run = 0
        var length = 0
        for byte in value.utf8 {
            length += 1
            run = isHexadecimal(byte) ? run + 1 : 0
            guard byte >= 0x20, byte != 0x7F, run < hexadecimalRun, length <= longestValue else { return false }
        }
        let folded = value.lowercased()
        return !bech32Prefixes.contains { folded.contains($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
