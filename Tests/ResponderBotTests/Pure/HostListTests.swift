import Testing

@testable import ResponderBot

struct HostListTests {
    @Test(
        arguments: [
            ("api.example", "api.example", nil, false), ("API.example:8443", "api.example", 8443, false),
            ("127.0.0.1:80", "127.0.0.1", 80, true), ("[::1]:8080", "::1", 8080, true),
            ("localhost", "localhost", nil, true),
        ] as [(String, String, Int?, Bool)])
    func parsesEntries(_ text: String, _ host: String, _ port: Int?, _ isPrivate: Bool) {
        let entry = HostList.Entry(text, isPrivate: false)
        #expect(entry?.host == host)
        #expect(entry?.port == port)
        #expect(entry?.isPrivate == isPrivate)
    }

    @Test(arguments: [
        "", ":80", "a b", "user@host", "host:", "host:0", "host:65536", "host:-1", "host:+1", "[::1", "[::1]x", "[g]",
        "a/b",
        "ho{1}st",
        "hőst", "*.example", "host:8０",
    ])
    func refusesInvalidHosts(_ text: String) {
        #expect(HostList.Entry(text, isPrivate: true) == nil)
    }

    @Test func matchesHostWithPort() throws {
        let entries = ["api.example", "127.0.0.1:8080"].compactMap { HostList.Entry($0, isPrivate: false) }
        let list = HostList(entries: entries)
        let listed = { (url: String) in
            WebAddress(url).flatMap { list.entry(for: $0.authority, port: $0.port) } != nil
        }
        #expect(listed("https://api.example/a?b#c"))
        #expect(listed("HTTPS://API.EXAMPLE:444"))
        #expect(listed("http://127.0.0.1:8080/x"))
        #expect(!listed("http://127.0.0.1/x"))
        #expect(!listed("https://api.example.evil.example/"))
        #expect(!listed("https://evil.example\\@api.example/"))
        #expect(!listed("https://api.example@evil.example/"))
        #expect(!listed("ftp://api.example/"))
    }

    @Test(arguments: [
        "https://{1}/", "https://a.{1}.example/", "https:///x", "https://", "//api.example", "https://a b/",
    ])
    func requiresCompleteHost(_ url: String) {
        #expect(WebAddress(url) == nil)
    }
}
