import ConsolePages
import Logging

/// Logins and logouts.
extension ConsoleResponder {
    func logIn(
        _ request: ConsoleRequest, _ query: FormFields, _ visit: ConsoleAccess.Visit?
    ) async throws(Refusal) -> ConsoleResponse {
        guard !request.isSafe else {
            guard visit == nil || query["token"] != nil else { return .redirect(.overview) }
            return loginPage(token: query["token"])
        }
        // The token of the link is what a form of another site does not have.
        let fields = try await form(of: request, nil)
        let login = access.redeem(fields["token"], from: request.address)
        note(login, request, by: "link")
        switch login {
        case .admitted(_, let token):
            return ConsoleResponse.redirect(.overview).with("set-cookie", cookie.beginning(token))
        case .refused(let reason): return loginPage(problem: reason, status: 403)
        case .delayed(let seconds): throw tooMany(seconds)
        }
    }

    private func loginPage(token: String? = nil, problem: String? = nil, status: Int = 200) -> ConsoleResponse {
        let page = LoginPage(token: token, problem: problem, offersKeys: settings.offersKeys).page
        return .html(page.document(for: nil, rev: 0, now: clock.unixSeconds()), status: status)
    }

    /// A login by a signed event (NIP-98), which the page's script sends.
    func logInWithKey(_ request: ConsoleRequest) -> ConsoleResponse {
        guard settings.offersKeys else {
            return .text("the configuration names no keys that may log in", status: 403)
        }
        let login = access.logIn(
            request.authorization, urls: addresses(of: request), settings: settings, from: request.address)
        note(login, request, by: "key")
        switch login {
        case .admitted(_, let token):
            return ConsoleResponse.text("logged in").with("set-cookie", cookie.beginning(token))
        case .refused(let reason): return .text(reason, status: 401)
        case .delayed(let seconds):
            return ConsoleResponse.text("too many attempts; try again in \(HTML.span(seconds))", status: 429)
                .with("retry-after", "\(seconds)")
        }
    }

    /// Returns the addresses under which a browser knows the login: the page's origin, which the rules have checked,
    /// the requested host, and the proxy.
    private func addresses(of request: ConsoleRequest) -> [String] {
        let path = "/login/nostr"
        var addresses: [String] = []
        if let origin = request.headers.origin, origin != "null" { addresses.append(origin + path) }
        if let host = request.headers.host {
            addresses.append("\(settings.isSecure ? "https" : "http")://\(host)\(path)")
        }
        if let proxy = settings.behindProxy { addresses.append("https://\(proxy)\(path)") }
        return addresses
    }

    private func note(_ login: ConsoleAccess.Login, _ request: ConsoleRequest, by means: String) {
        switch login {
        case .admitted(let visit, _):
            logger.notice(
                "Console login",
                metadata: [
                    "operator": "\(visit.session.name)", "role": "\(visit.session.role.rawValue)", "by": "\(means)",
                    "address": "\(request.address)",
                ])
        case .refused:
            logger.warning("Console login refused", metadata: ["by": "\(means)", "address": "\(request.address)"])
        // Not logged: its number is what the limit bounds.
        case .delayed: break
        }
    }

    func logOut(_ request: ConsoleRequest, _ visit: ConsoleAccess.Visit) async throws(Refusal) -> ConsoleResponse {
        _ = try await form(of: request, visit)
        access.end(visit)
        logger.notice("Console logout", metadata: ["operator": "\(visit.session.name)"])
        return ConsoleResponse.redirect(.login).with("set-cookie", cookie.ending)
    }
}
