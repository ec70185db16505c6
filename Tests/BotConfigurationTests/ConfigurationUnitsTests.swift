import BotDispatch
import BotKit
import Testing

@testable import BotConfiguration

struct ConfigurationUnitsTests {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("1s", .seconds(1)), ("5m", .seconds(300)), ("1h", .seconds(3600)),
        ("1d", .seconds(86_400)), ("0s", .zero), ("90s", .seconds(90)), ("3650d", .seconds(315_360_000)),
    ])
    func parsesDurations(text: String, expected: Duration) {
        #expect(Duration(configurationText: text) == expected)
    }

    @Test(arguments: [
        "", "s", "1", "-1s", "1 s", "1.5s", "1S", "1sec", "1s1m", "٣s", "3651d", "99999999999999999999s",
        "9223372036854775807d", "+1s",
    ])
    func rejectsInvalidDurations(text: String) {
        #expect(Duration(configurationText: text) == nil)
    }

    @Test(arguments: ["250ms", "1s", "90s", "5m", "1h", "1d", "0ms", "1500ms"])
    func durationsRoundTrip(text: String) {
        #expect(Duration(configurationText: text)?.configurationText == text)
    }

    @Test func parsesRanges() {
        #expect(durationRange(configurationText: "1s..30s") == .seconds(1) ... .seconds(30))
        #expect(durationRange(configurationText: "1s..1s") == .seconds(1) ... .seconds(1))
        for text in ["", "1s", "1s..", "..1s", "2s..1s", "1s..2s..3s", "1s...2s", "1s .. 2s"] {
            #expect(durationRange(configurationText: text) == nil)
        }
    }

    @Test func parsesRates() {
        #expect(Rate(configurationText: "6/min") == Rate(6, per: .minute))
        #expect(Rate(configurationText: "1/s")?.per.duration == .seconds(1))
        #expect(Rate(configurationText: "30/h")?.description == "30/h")
        for text in ["", "6", "/min", "6/", "0/s", "-1/s", "6/day", "6/m", "6/min/s", "1000001/s", "6 /min"] {
            #expect(Rate(configurationText: text) == nil)
        }
    }

    @Test func parsesListenAddresses() {
        #expect(ListenAddress(configurationText: "127.0.0.1:9464") == ListenAddress(host: "127.0.0.1", port: 9464))
        #expect(ListenAddress(configurationText: "[::1]:0")?.description == "[::1]:0")
        #expect(ListenAddress(configurationText: "localhost:65535")?.port == 65_535)
        for text in ["", ":1", "host", "host:", "host:65536", "::1:80", "[host]:1", "ho st:1", "host:+1", "host:-1"] {
            #expect(ListenAddress(configurationText: text) == nil)
        }
    }

    @Test func parsesHostNames() {
        for text in ["bots.example", "a", "A-1.b_c", "127.0.0.1", String(repeating: "a", count: 253)] {
            #expect(hostName(configurationText: text) == text)
        }
        for text in ["", ".", "a.", "-a", "a:1", "a b", "é", "[::1]", "a/b", String(repeating: "a", count: 254)] {
            #expect(hostName(configurationText: text) == nil)
        }
    }

    @Test func suggestsNearestNames() {
        let keys = ["relays", "state", "accounts", "supervisor"]
        #expect(nearestName(to: "relay", in: keys) == "relays")
        #expect(nearestName(to: "acounts", in: keys) == "accounts")
        #expect(nearestName(to: "SUPERVISOR", in: keys) == "supervisor")
        #expect(nearestName(to: "colour", in: keys) == nil)
        #expect(nearestName(to: "", in: keys) == nil)
        #expect(nearestName(to: String(repeating: "x", count: 100_000), in: keys) == nil)
        #expect(nearestName(to: "nme", in: ["me", "name", "time"]) == "name")
        #expect(nearestName(to: "nmae", in: ["mae", "name"]) == "name")
        #expect(nearestName(to: "cht", in: ["cat", "chat", "chit"]) == "chat")
        #expect(nearestName(to: "ax", in: ["bx", "ay"]) == "ay")
        #expect(nearestName(to: "x", in: ["b", "a"]) == "a")
        #expect(editDistance("ehco", "echo") == 1)
        #expect(editDistance("kitten", "sitting") == 3)
        #expect(editDistance("", "abc") == 3)
    }
}
