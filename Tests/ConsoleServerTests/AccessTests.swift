import ConsolePages
import Logging
import Nostr
import Testing

@testable import ConsoleServer

struct AccessTests {
    private struct Generator: RandomNumberGenerator {
        var state: UInt64 = 7
        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state
        }
    }

    private static let url = "http://127.0.0.1:9465/login/nostr"
    private static let now = UnixTime(1_700_000_000)

    private static func keys() throws -> KeyPair { try KeyPair(secretKey: [UInt8](repeating: 7, count: 32)) }

    private static func header(
        _ keys: KeyPair, url: String = url, method: String = "POST", age: Int64 = 0
    ) throws -> String {
        var generator = Generator()
        let draft = HTTPAuthentication.draft(
            url: url, method: method, by: keys.publicKey, now: UnixTime(now.seconds - age))
        return HTTPAuthentication.header(draft.signed(by: keys, using: &generator))
    }

    private static func settings(_ operators: KeyPair...) -> ConsoleSettings {
        var settings = ConsoleSettings(host: "127.0.0.1", port: 9465, isLoopback: true)
        settings.operators = Set(operators.map(\.publicKey))
        return settings
    }

    @Test
    func linksAndSessionsAreBounded() {
        var sessions = ConsoleSessions()
        var generator = Generator()
        for number in 0..<200 {
            let link = sessions.invite("n", .view, now: Int64(number), using: &generator)
            if number % 2 == 0 { _ = sessions.redeem(link, now: Int64(number), using: &generator) }
        }
        #expect(sessions.linkCount <= ConsoleSessions.maximumLinks)
        #expect(sessions.sessionCount == ConsoleSessions.maximumSessions)
    }

    @Test
    func tokensDiffer() {
        var sessions = ConsoleSessions()
        var generator = Generator()
        let tokens = (0..<50).map { _ in sessions.invite("n", .view, now: 0, using: &generator) }
        #expect(Set(tokens).count == 50 && tokens.allSatisfy { $0.count == 64 })
    }

    @Test
    func loginLimiterForgetsStrangers() {
        var logins = LoginLimiter()
        for number in 0..<5_000 {
            logins.noteFailure(of: "address \(number)", now: Int64(number))
        }
        #expect(logins.addressCount <= LoginLimiter.maximumAddresses)
        // All addresses together have failed too often.
        #expect(logins.delay(of: "another", now: 5_000) != nil)
        #expect(logins.delay(of: "another", now: 70_000) == nil)
    }

    @Test
    func keyLogsInOnce() throws {
        let keys = try Self.keys()
        var logins = KeyLogins()
        let header = try Self.header(keys)
        let settings = Self.settings(keys)
        let first = logins.judge(header, urls: [Self.url], settings: settings, now: Self.now)
        #expect(first == .admitted(keys.publicKey, .operate))
        guard case .refused = logins.judge(header, urls: [Self.url], settings: settings, now: Self.now) else {
            Issue.record("the event was accepted twice")
            return
        }
    }

    @Test(arguments: [
        ("http://127.0.0.1:9465/login", "POST", 0), (url, "GET", 0), (url, "POST", 61), (url, "POST", -61),
        ("https://evil.example/login/nostr", "POST", 0),
    ])
    func otherEventsAreRefused(url: String, method: String, age: Int64) throws {
        let keys = try Self.keys()
        var logins = KeyLogins()
        let header = try Self.header(keys, url: url, method: method, age: age)
        let verdict = logins.judge(header, urls: [Self.url], settings: Self.settings(keys), now: Self.now)
        guard case .refused = verdict else {
            Issue.record("\(verdict)")
            return
        }
        #expect(logins.usedCount == 0)
    }

    @Test
    func strangersAndGarbageAreRefused() throws {
        var logins = KeyLogins()
        let keys = try Self.keys()
        let good = try Self.header(keys)
        let long = "Nostr " + String(repeating: "A", count: 9_000)
        for header in [good, "", "Nostr", "Nostr ====", "Basic abc", String(good.dropLast(9)), good + "A", long] {
            guard case .refused = logins.judge(header, urls: [Self.url], settings: Self.settings(), now: Self.now)
            else {
                Issue.record("accepted \(header.prefix(40))")
                continue
            }
        }
    }

    @Test(arguments: ["", "a", "a=b", "a=b&a=c", "a=%41", "a=b;c=d", "=", "&&&", "a=b=c"])
    func fieldsParse(text: String) {
        #expect(FormFields(text) != nil)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff"])
    func brokenFieldsAreRefused(text: String) {
        #expect(FormFields(text) == nil)
    }

    @Test
    func unprotectedAddressIsRefused() {
        var settings = ConsoleSettings(host: "0.0.0.0", port: 0, isLoopback: false)
        let start = { (settings: ConsoleSettings) throws(ConsoleError) in
            try ConsoleServer(settings, backend: FakeBackend(), logger: Logger(label: "test"))
        }
        #expect(throws: ConsoleError.self) { try start(settings) }
        settings.tls = .init(certificate: "/nonexistent.pem", key: "/nonexistent.key")
        #expect { try start(settings) } throws: { ($0 as? ConsoleError)?.code == .certificate }
    }
}
