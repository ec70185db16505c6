import ConsolePages
import Testing

@testable import ConsoleServer

struct ResponderTests {
    private let stage = Stage()

    // MARK: Logins

    @Test
    func linkWorksOnce() async {
        let token = stage.access.invite("ann", .operate)
        for _ in 0..<2 {
            // Opening the link does not use it up.
            let page = await stage.send("GET", "/login?token=\(token)")
            #expect(page.status == 200 && page.text.contains(token))
        }
        let first = await stage.send("POST", "/login", "token=\(token)")
        #expect(first.status == 303)
        let cookie = first.headers["set-cookie"] ?? ""
        #expect(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains("Secure"))
        #expect(await stage.send("POST", "/login", "token=\(token)").status == 403)
    }

    @Test
    func linkEndsAfterFiveMinutes() async {
        let token = stage.access.invite("ann", .operate)
        stage.pass(299)
        #expect(await stage.send("POST", "/login", "token=\(token)").status == 303)
        let other = stage.access.invite("ann", .operate)
        stage.pass(300)
        #expect(await stage.send("POST", "/login", "token=\(other)").status == 403)
    }

    @Test
    func sessionEndsAfterTwelveHours() async {
        let (cookie, _) = await stage.logIn()
        stage.pass(12 * 3_600 - 1)
        #expect(await stage.send("GET", "/", cookie: cookie).status == 200)
        stage.pass(1)
        let answer = await stage.send("GET", "/", cookie: cookie)
        #expect(answer.status == 303 && answer.headers["location"] == "/login")
    }

    @Test
    func logoutEndsTheSession() async {
        let (cookie, token) = await stage.logIn()
        #expect(await stage.send("POST", "/logout", "token=wrong", cookie: cookie).status == 403)
        #expect(await stage.send("POST", "/logout", "token=\(token)", cookie: cookie).status == 303)
        #expect(await stage.send("GET", "/", cookie: cookie).status == 303)
    }

    @Test
    func secureCookieBehindProxy() async {
        let stage = Stage { $0.behindProxy = "console.example" }
        let answer = await stage.send("POST", "/login", "token=\(stage.access.invite("ann", .view))")
        let cookie = answer.headers["set-cookie"] ?? ""
        #expect(cookie.hasPrefix("__Host-") && cookie.hasSuffix("; Secure"))
    }

    @Test
    func guessesAreLimited() async {
        for _ in 0..<10 { #expect(await stage.send("POST", "/login", "token=00").status == 403) }
        let answer = await stage.send("POST", "/login", "token=\(stage.access.invite("ann", .view))")
        #expect(answer.status == 429 && answer.headers["retry-after"] == "60")
        // Other addresses may still try, until all together have failed too often.
        let other = await stage.send("POST", "/login", "token=00") { $0.address = "127.0.0.2" }
        #expect(other.status == 403)
        stage.pass(60)
        #expect(await stage.send("POST", "/login", "token=00").status == 403)
    }

    // MARK: Rules

    @Test(arguments: [
        ("GET", "/", 200), ("HEAD", "/", 200), ("GET", "/accounts/a", 200), ("GET", "/accounts/b", 404),
        ("GET", "/accounts/a/chats/%2e%2e%2fetc", 200), ("GET", "/accounts/%zz", 400), ("GET", "//", 404),
        ("GET", "/../secret", 404), ("GET", "secret", 400), ("GET", "/why?minutes=5", 200), ("GET", "/logs", 200),
        ("GET", "/configuration", 200), ("GET", "/load", 200), ("DELETE", "/", 405), ("POST", "/", 405),
        ("GET", "/logout", 405), ("GET", "/actions/restart?account=a", 200), ("GET", "/actions/restart?account=b", 404),
        ("GET", "/actions/erase", 404), ("GET", "/events?page=/login", 404), ("GET", "/events?page=", 404),
        ("GET", "/?" + String(repeating: "a", count: 5_000), 414), ("GET", "/?a=%f", 400),
    ])
    func answersTarget(method: String, target: String, status: Int) async {
        let (cookie, _) = await stage.logIn()
        let answer = await stage.send(method, target, cookie: cookie)
        #expect(answer.status == status)
        #expect(answer.headers["content-security-policy"]?.contains("default-src 'none'") == true)
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["cache-control"] == "no-store")
        if status == 405 { #expect(answer.headers["allow"]?.isEmpty == false) }
    }

    @Test(
        arguments: [
            ("127.0.0.1:9465", nil, nil, 303), ("127.0.0.1:9465", "http://127.0.0.1:9465", "same-origin", 303),
            ("localhost:9465", "http://localhost:9465", nil, 303), ("127.0.0.1:9465", "null", "same-origin", 303),
            ("127.0.0.1:9465", "null", nil, 403), ("127.0.0.1:9465", "https://evil.example", nil, 403),
            ("127.0.0.1:9465", "http://127.0.0.1:1", nil, 403), ("127.0.0.1:9465", nil, "cross-site", 403),
            ("127.0.0.1:9465", nil, "same-site", 403), ("evil.example", nil, nil, 421), (nil, nil, nil, 421),
            ("evil.example:9465", "http://evil.example:9465", "same-origin", 421),
        ] as [(String?, String?, String?, Int)])
    func judgesOrigin(host: String?, origin: String?, site: String?, status: Int) async {
        let (cookie, token) = await stage.logIn()
        let answer = await stage.send("POST", "/actions/restart", "account=a&token=\(token)", cookie: cookie) {
            $0.headers = RequestRules.Headers(host: host, origin: origin, fetchSite: site)
        }
        #expect(answer.status == status)
        #expect(stage.backend.actions == (status == 303 ? [.restart(account: "a")] : []))
    }

    @Test(arguments: [
        ("account=a", 403), ("account=a&token=", 403), ("account=a&token=0000", 403), ("account=a&token=%zz", 400),
        ("", 403), (String(repeating: "a", count: 20_000), 413), ("token=TOKEN&account=b", 404), ("token=TOKEN", 404),
        ("token=TOKEN&account=a&account=b", 303),
    ])
    func judgesForm(form: String, status: Int) async {
        let (cookie, token) = await stage.logIn()
        let form = form.replacing("TOKEN", with: token)
        #expect(await stage.send("POST", "/actions/restart", form, cookie: cookie).status == status)
        #expect(stage.backend.actions.count == (status == 303 ? 1 : 0))
    }

    @Test
    func tokenOfAnotherSessionIsRefused() async {
        let (cookie, _) = await stage.logIn()
        let (_, other) = await stage.logIn()
        let answer = await stage.send("POST", "/actions/restart", "account=a&token=\(other)", cookie: cookie)
        #expect(answer.status == 403 && stage.backend.actions.isEmpty)
    }

    @Test
    func viewersMayNotAct() async {
        let (cookie, token) = await stage.logIn(.view)
        #expect(await stage.send("GET", "/", cookie: cookie).status == 200)
        for (target, form) in [
            ("/actions/restart", "account=a&token=\(token)"), ("/actions/reload", "token=\(token)"),
            ("/configuration/validate", "text=a&token=\(token)"),
        ] { #expect(await stage.send("POST", target, form, cookie: cookie).status == 403) }
        #expect(await stage.send("GET", "/actions/restart?account=a", cookie: cookie).status == 403)
        #expect(stage.backend.actions.isEmpty)
    }

    @Test
    func otherContentTypesAreRefused() async {
        let (cookie, token) = await stage.logIn()
        for type in [nil, "application/json", "multipart/form-data", "text/plain"] as [String?] {
            let answer = await stage.send("POST", "/actions/reload", "token=\(token)", cookie: cookie) {
                $0.contentType = type
            }
            #expect(answer.status == 415)
        }
        let slow = await stage.send("POST", "/actions/reload", "", cookie: cookie) { $0.body = { _ in .tooSlow } }
        #expect(slow.status == 408)
        let broken = await stage.send("POST", "/actions/reload", "", cookie: cookie) {
            $0.body = { _ in .complete([0xFF, 0xFE]) }
        }
        #expect(broken.status == 400)
    }

    @Test
    func failedActionShowsItsReason() async {
        let (cookie, token) = await stage.logIn()
        let answer = await stage.send("POST", "/actions/stop", "account=a&token=\(token)", cookie: cookie)
        #expect(answer.status == 409 && answer.text.contains("it does not &lt;stop&gt;"))
    }

    @Test
    func requestsAreLimited() async {
        var statuses: [Int] = []
        for _ in 0..<130 { statuses.append(await stage.send("GET", "/login").status) }
        #expect(statuses.prefix(120).allSatisfy { $0 == 200 } && statuses.last == 429)
        stage.pass(1)
        #expect(await stage.send("GET", "/login").status == 200)
    }

    @Test
    func assetsAreCachedByVersion() async throws {
        let page = await stage.send("GET", "/login").text
        let path = try #require(page.firstMatch(of: #/href="(\/console\.css\?v=[^"]+)"/#)).1
        let asset = await stage.send("GET", String(path))
        #expect(asset.headers["cache-control"]?.contains("immutable") == true)
        #expect(asset.headers["content-type"]?.hasPrefix("text/css") == true)
        let tag = asset.headers["etag"]
        let again = await stage.send("GET", "/console.css") { $0.ifNoneMatch = tag }
        #expect(again.status == 304 && again.text.isEmpty && again.headers["cache-control"] == "no-cache")
    }
}
