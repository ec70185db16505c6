import ConsolePages
import Foundation
import Logging
import Synchronization

@testable import ConsoleServer

/// A responder on a clock that the test sets.
struct Stage {
    let backend = FakeBackend()
    let access: ConsoleAccess
    let responder: ConsoleResponder
    private let time: Time

    private final class Time: Sendable {
        let milliseconds = Mutex<Int64>(0)
    }

    init(_ change: (inout ConsoleSettings) -> Void = { _ in }) {
        let time = Time()
        var settings = ConsoleSettings(host: "127.0.0.1", port: 9465, isLoopback: true)
        change(&settings)
        let clock = ConsoleClock(
            milliseconds: { time.milliseconds.withLock { $0 } },
            unixSeconds: { 1_700_000_000 + time.milliseconds.withLock { $0 } / 1_000 })
        access = ConsoleAccess(clock: clock)
        responder = ConsoleResponder(
            settings, backend: backend, access: access, clock: clock, logger: Logger(label: "test"))
        self.time = time
    }

    func pass(_ seconds: Int64) { time.milliseconds.withLock { $0 += seconds * 1_000 } }

    /// A request of this host's own page.
    func request(_ method: String, _ target: String, _ form: String? = nil, cookie: String? = nil) -> ConsoleRequest {
        var request = ConsoleRequest(method, target)
        request.address = "127.0.0.1"
        request.headers = RequestRules.Headers(host: "127.0.0.1:9465")
        if let cookie { request.cookies = ["other=1; \(cookie)"] }
        if let form {
            request.contentType = "application/x-www-form-urlencoded"
            request.body = { limit in form.utf8.count > limit ? .tooLarge : .complete(Array(form.utf8)) }
        }
        return request
    }

    func send(
        _ method: String, _ target: String, _ form: String? = nil, cookie: String? = nil,
        _ change: (inout ConsoleRequest) -> Void = { _ in }
    ) async -> ConsoleResponse {
        var request = request(method, target, form, cookie: cookie)
        change(&request)
        return await responder.respond(to: request)
    }

    /// Logs in; returns the cookie and the token of forms.
    func logIn(_ role: ConsoleRole = .operate) async -> (cookie: String, token: String) {
        let answer = await send("POST", "/login", "token=\(access.invite("ann", role))")
        let cookie = String((answer.headers["set-cookie"] ?? "").prefix { $0 != ";" })
        let page = await send("GET", "/", cookie: cookie).text
        let mark = "name=\"token\" value=\""
        let token = page.components(separatedBy: mark).dropFirst().first?.prefix { $0 != "\"" } ?? ""
        return (cookie, String(token))
    }
}

extension ConsoleResponse {
    /// The body, if it is complete.
    var text: String {
        switch body {
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .stream: ""
        }
    }
}
