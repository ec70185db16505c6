import Telemetry
import Testing

struct HostRuleTests {
    @Test(arguments: [
        "127.0.0.1", "127.0.0.1:9464", "192.0.2.7:1", "[::1]", "[::1]:9464", "[2001:db8::1]:9464", "localhost",
        "LOCALHOST:9464", "localhost.", "a.localhost:1", "localhost:", "bots.example", "Bots.Example.:9464",
    ])
    func admitsAddressesAndKnownNames(host: String) {
        #expect(HostRule(names: ["bots.EXAMPLE"]).admits(host))
    }

    @Test(arguments: [
        "", ":", ":9464", "evil.example", "evil.example:9464", "127.0.0.1.evil.example", "localhost.evil.example",
        "notlocalhost", "x.bots.example", "bots.example:9464.evil.example", "bots.example@evil.example", "::1", "[::1",
        "[::1]x", "[127.0.0.1]", "[evil.example]", "127.0.0.1:9464:9464", "127.0.0.1:x", "2130706433", "0x7f.1",
        "localhost evil.example", "localhost,evil.example",
    ])
    func refusesOtherNames(host: String) {
        #expect(!HostRule(names: ["bots.example"]).admits(host))
    }
}
