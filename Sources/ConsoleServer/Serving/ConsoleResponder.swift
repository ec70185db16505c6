import ConsolePages
import Logging

/// Decides on requests. Without sockets: a request in, a response out.
struct ConsoleResponder: Sendable {
    /// Maximum number of bytes of a form, and of the form with a configuration text.
    static let maximumForm = 16 * 1_024
    static let maximumText = 512 * 1_024

    let settings: ConsoleSettings
    let backend: any ConsoleBackend
    let access: ConsoleAccess
    let clock: ConsoleClock
    let logger: Logger
    let cookie: SessionCookie
    private let rules: RequestRules

    init(
        _ settings: ConsoleSettings, backend: any ConsoleBackend, access: ConsoleAccess, clock: ConsoleClock,
        logger: Logger
    ) {
        self.settings = settings
        self.backend = backend
        self.access = access
        self.clock = clock
        self.logger = logger
        cookie = SessionCookie(settings, port: settings.port)
        rules = RequestRules(settings)
    }

    func respond(to request: ConsoleRequest) async -> ConsoleResponse {
        do throws(Refusal) { return try await answer(request).protected } catch { return error.response.protected }
    }

    private func answer(_ request: ConsoleRequest) async throws(Refusal) -> ConsoleResponse {
        switch rules.refusal(of: request.headers, acts: !request.isSafe) {
        case .unknownHost:
            throw refusal(
                421, "Unknown host",
                "The console does not serve this host name. Use an IP address or localhost, or add the name to observe.console.hosts."
            )
        case .otherSite: throw refusal(403, "Refused", "The request was made by a page of another site.")
        case nil: break
        }
        let target = try target(of: request)
        guard target.route.methods.contains(request.method) else {
            throw refusal(405, "Method not allowed", "This address cannot be requested with this method.")
                .with("allow", target.route.methods.joined(separator: ", "))
        }
        let visit = access.visit(cookie.token(in: request.cookies))
        if let seconds = access.delay(of: visit, at: request.address) { throw tooMany(seconds) }
        switch target.route {
        case .asset(let asset): return response(asset, request, target.query)
        case .login: return try await logIn(request, target.query, visit)
        case .keyLogin: return logInWithKey(request)
        default: break
        }
        guard let visit else { throw unknownVisitor(request, target.route) }
        return try await answer(request, target, visit)
    }

    /// Answers a request of a session.
    private func answer(
        _ request: ConsoleRequest, _ target: ConsoleTarget, _ visit: ConsoleAccess.Visit
    ) async throws(Refusal) -> ConsoleResponse {
        switch target.route {
        case .logout: return try await logOut(request, visit)
        case .events: return try stream(request, target.query, visit)
        case .validation: return try await validate(request, visit)
        case .action(let name):
            return request.isSafe
                ? try await ask(name, target.query, visit) : try await act(name, request, visit)
        case .overview, .why, .logs, .configuration, .load, .account, .chat, .asset, .login, .keyLogin:
            guard let rendered = await render(target, for: visit.viewer) else {
                throw refusal(404, "Not found", "The program has no account with this name.", visit)
            }
            return .html(rendered.document(for: visit.viewer))
        }
    }

    private func target(of request: ConsoleRequest) throws(Refusal) -> ConsoleTarget {
        do throws(ConsoleTarget.Problem) { return try ConsoleTarget(request.target) } catch {
            switch error {
            case .malformed: throw refusal(400, "Malformed address", "The address is not valid.")
            case .tooLong: throw refusal(414, "Address too long", "The address is too long.")
            case .unknown: throw refusal(404, "Not found", "The console has no such page.")
            }
        }
    }

    private func unknownVisitor(_ request: ConsoleRequest, _ route: ConsoleRoute) -> Refusal {
        // The stream's script shows the page's state itself, and would follow a redirect.
        guard request.isSafe, route != .events else {
            return refusal(401, "Not logged in", "The session has ended. Log in again.")
        }
        return Refusal(.redirect(.login))
    }

    private func response(_ asset: Asset, _ request: ConsoleRequest, _ query: FormFields) -> ConsoleResponse {
        let tag = "\"\(asset.version)\""
        // An address with the version never changes its content; another one must be asked for again.
        let caching =
            query["v"] == asset.version ? "public, max-age=31536000, immutable" : "no-cache"
        var response = ConsoleResponse(
            status: 200, contentType: asset.contentType, body: .bytes(Array(asset.content.utf8)))
        if request.ifNoneMatch == tag {
            response.status = 304
            response.body = .bytes([])
        }
        return response.with("etag", tag).with("cache-control", caching)
    }
}

/// A refused request.
struct Refusal: Error {
    let response: ConsoleResponse

    init(_ response: ConsoleResponse) {
        self.response = response
    }

    func with(_ name: String, _ value: String) -> Refusal { Refusal(response.with(name, value)) }
}

extension ConsoleResponder {
    /// A page with the reason of a refusal.
    func refusal(
        _ status: Int, _ title: String, _ text: String, _ visit: ConsoleAccess.Visit? = nil,
        back: ConsolePath = .overview
    ) -> Refusal {
        let page = MessagePage(title: title, text: text, back: back).page
        return Refusal(.html(page.document(for: visit?.viewer, rev: 0, now: clock.unixSeconds()), status: status))
    }

    func tooMany(_ seconds: Int64) -> Refusal {
        refusal(429, "Too many requests", "Too many requests. Try again in \(HTML.span(seconds)).")
            .with("retry-after", "\(seconds)")
    }

    /// Reads a form of a session, and checks its token.
    ///
    /// - Parameter limit: bytes.
    func form(
        of request: ConsoleRequest, limit: Int = maximumForm, _ visit: ConsoleAccess.Visit?
    ) async throws(Refusal) -> FormFields {
        let type = request.contentType?.prefix { $0 != ";" }.lowercased().filter { $0 != " " }
        guard type == "application/x-www-form-urlencoded" else {
            throw refusal(415, "Not a form", "The request must be a form of the console.", visit)
        }
        let bytes: [UInt8]
        switch await request.body(limit) {
        case .complete(let body): bytes = body
        case .tooLarge:
            throw refusal(413, "Too large", "The form is larger than \(limit / 1_024) KiB.", visit)
        case .tooSlow: throw refusal(408, "Too slow", "The form did not arrive in time.", visit)
        }
        guard let text = String(validating: bytes, as: UTF8.self), let fields = FormFields(text) else {
            throw refusal(400, "Malformed form", "The form is not valid.", visit)
        }
        if let visit, !ConsoleSessions.admits(fields["token"], in: visit.session) {
            throw refusal(
                403, "Refused", "The form is not of this session. Load the page again, and repeat the action.", visit)
        }
        return fields
    }
}
