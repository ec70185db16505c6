import Testing

@testable import BotConfiguration

/// Files made to exhaust the reader, and every truncation of a valid one.
struct ConfigurationHostileTests {
    static let tooDeep = "expected at most 32 levels, found more; simplify the file"

    @Test(arguments: [
        String(repeating: "[", count: 100_000), String(repeating: "- ", count: 100_000),
        String(repeating: "? ", count: 100_000), "a: " + String(repeating: "[", count: 900),
        String(repeating: "{a: ", count: 900) + String(repeating: "}", count: 900),
    ])
    func boundsDepth(yaml: String) throws {
        let message = try #require(configurationMessages(yaml).first)
        #expect(message.hasSuffix(Self.tooDeep) || message.contains("expected valid YAML"))
    }

    private var laughs: String {
        var yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1..<30 {
            yaml += "a\(level): &a\(level) [" + String(repeating: "*a\(level - 1), ", count: 9) + "x]\n"
        }
        return yaml
    }

    @Test func boundsAliasExpansion() {
        #expect(
            configurationMessages(laughs).map { $0.drop { $0 != " " } } == [
                " a4[1][2][7][3][2]: expected at most 20000 values with aliases expanded, found more; simplify the file"
            ])
    }

    @Test(arguments: [
        "? *a29\n: 1\n", "*a29 : 1\n", "{ *a29 : 1 }\n", "- { [*a29]: 1 }\n", "k: { *a29: 1 }\n", "\t?\t*a29\n",
        "*a29\t: 1\n",
    ])
    func refusesAliasesAsKeys(key: String) {
        let found = configurationMessages(laughs + key)
        #expect(
            found == [
                "bot.yaml:31:1: expected keys that are plain words, found an alias or a collection as a key; "
                    + "write the key as a word"
            ])
    }

    @Test func quotedAliasIsText() {
        let yaml = """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: a
                key: { env: A }
                bots:
                  - use: echo
                    with:
                      text: |
                        * one: two
                        ? [link]: target
            """
        #expect(configurationMessages(yaml) == [])
    }

    @Test func survivesEveryTruncation() {
        for length in stride(from: 0, to: wholeConfiguration.utf8.count, by: 3) {
            let cut = String(decoding: wholeConfiguration.utf8.prefix(length), as: UTF8.self)
            for message in configurationMessages(cut) { #expect(message.hasPrefix("bot.yaml:")) }
        }
    }

    @Test func survivesMutations() {
        var state: UInt64 = 42
        func draw(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        let original = Array(wholeConfiguration.utf8)
        let bytes = Array("[]{}:,-?*&!|>'\"#%@ \n\t\u{0}0a~".utf8)
        for _ in 0..<2000 {
            var mutated = original
            for _ in 0...draw(4) { mutated[draw(mutated.count)] = bytes[draw(bytes.count)] }
            for message in configurationMessages(String(decoding: mutated, as: UTF8.self)) {
                #expect(message.hasPrefix("bot.yaml:"))
            }
        }
    }

    @Test func messagesNeverShowSecrets() {
        let nsec = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
        let hex = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
        let lines = wholeConfiguration.split(separator: "\n", omittingEmptySubsequences: false)
        for secret in [nsec, nsec.uppercased(), hex, hex.uppercased()] {
            for index in lines.indices {
                for replacement in [
                    "\(secret): x", "key: \(secret)", "name: \(secret)", "  \"\(secret)", "x: *\(secret)",
                ] {
                    var changed = lines
                    changed[index] = lines[index].prefix { $0 == " " || $0 == "-" } + Substring(replacement)
                    let found = configurationMessages(changed.joined(separator: "\n"))
                    #expect(!found.contains { $0.lowercased().contains(secret.lowercased()) })
                }
            }
        }
    }
}
