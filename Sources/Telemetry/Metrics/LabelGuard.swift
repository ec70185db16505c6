/// Keeps out of labels what names a person, a group or an event, and what somebody wrote: metrics leave the machine.
public enum LabelGuard {
    /// What stands in the place of a value that was kept out.
    public static let withheld = "withheld"
    /// Bytes of a value; longer ones are kept out whole.
    public static let longestValue = 64
    /// Hexadecimal digits in a row that make a key or an id; chat ids in logs are cut to eight.
    static let hexadecimalRun = 16
    /// Human-readable parts of NIP-19 and NIP-49, with the separator.
    private static let bech32Prefixes = [
        "npub1", "nsec1", "note1", "nprofile1", "nevent1", "naddr1", "nrelay1", "ncryptsec1",
    ]

    /// Whether a label may have this value.
    public static func admits(_ value: String) -> Bool {
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
