import Telemetry
import Testing

struct LabelGuardTests {
    @Test(arguments: [
        "", "helper command ping", "relay.one.example:4848", "0123456789abcde", "DeserializationFailure", "nip-npub",
        String(repeating: "y", count: 64), "größe",
    ])
    func admitsWordsAndHosts(_ value: String) {
        #expect(LabelGuard.admits(value))
    }

    @Test(arguments: [
        "0123456789abcdef", "chat ABCDEF0123456789", String(repeating: "a", count: 64),
        "npub1qqqq", "to NSEC1qqqq", "note1x", "nprofile1x", "nevent1x", "naddr1x", "ncryptsec1x",
        String(repeating: "y", count: 65), "two\nlines", "nul\0", "del\u{7F}",
    ])
    func rejectsKeysIDsAndContent(_ value: String) {
        #expect(!LabelGuard.admits(value))
    }
}
