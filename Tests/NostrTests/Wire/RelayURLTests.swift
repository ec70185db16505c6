import Nostr
import Testing

@Test func parsesRelayURLParts() throws {
    let url = try RelayURL("WSS://Relay.Example.com:8443/Inbox?k=V")
    #expect(url.string == "WSS://Relay.Example.com:8443/Inbox?k=V")
    #expect(url.description == url.string)
    #expect(url.isSecure)
    #expect(url.host == "relay.example.com")
    #expect(url.port == 8443)
    #expect(url.path == "/Inbox?k=V")
    #expect(url.authority == "relay.example.com:8443")
    let plain = try RelayURL("ws://127.0.0.1")
    #expect(!plain.isSecure && plain.port == 80 && plain.path == "/" && plain.authority == "127.0.0.1")
    let six = try RelayURL("ws://[::1]:7777?x")
    #expect(six.host == "::1" && six.port == 7777 && six.path == "/?x" && six.authority == "[::1]:7777")
}

@Test func equivalentRelayURLsAreEqual() throws {
    let url = try RelayURL("wss://relay.example.com")
    for same in ["wss://relay.example.com/", "WSS://RELAY.example.com", "wss://relay.example.com:443/"] {
        let other = try RelayURL(same)
        #expect(url == other)
        #expect(url.hashValue == other.hashValue)
        #expect(!(url < other) && !(other < url))
    }
    for different in [
        "ws://relay.example.com", "wss://relay.example.com:444", "wss://relay.example.com/a",
        "wss://relay.example.com//", "wss://b.example.com",
    ] {
        #expect(url != (try RelayURL(different)))
    }
    #expect(try RelayURL("wss://a/b/") == RelayURL("wss://a/b"))
    #expect(try RelayURL("wss://a/B") != RelayURL("wss://a/b"))
}

@Test func refusesInvalidRelayURLs() {
    let wrong = [
        "", "relay.example.com", "http://a", "https://a", "wss:/a", "wss//a", "wss://", "wss:///path", "wss://:80",
        "wss://a:0",
        "wss://a:65536", "wss://a:", "wss://a:+1", "wss://a:1x", "wss://user@a", "wss://u:p@a", "wss://a b", " wss://a",
        "wss://a\n",
        "wss://é.example", "wss://a/é", "wss://a#f", "wss://[::1", "wss://[]", "wss://[abc]", "wss://[::1]x",
        "wss://a,b", "wss://a\"",
        "wss://" + String(repeating: "a", count: 2048),
    ]
    for text in wrong { #expect(code { _ = try RelayURL(text) } == .invalidRelayURL, "\(text.prefix(40))") }
}
