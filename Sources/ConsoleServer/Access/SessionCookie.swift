/// The cookie of a session.
struct SessionCookie: Sendable, Hashable {
    /// Cookies of one host are not separated by port, so the name contains it: two consoles can be used side by side.
    let name: String
    private let isSecure: Bool

    init(_ settings: ConsoleSettings, port: Int) {
        isSecure = settings.isSecure
        // Browsers accept a cookie with this prefix only with Secure, for the whole path, and for this host alone.
        name = (settings.isSecure ? "__Host-" : "") + "pikabot-console-\(port)"
    }

    /// The value of `Set-Cookie` that begins a session.
    func beginning(_ token: String) -> String {
        "\(name)=\(token); Path=/; Max-Age=\(ConsoleSessions.sessionLifetime / 1_000)\(attributes)"
    }

    /// The value of `Set-Cookie` that ends it.
    var ending: String { "\(name)=; Path=/; Max-Age=0\(attributes)" }

    private var attributes: String { "; HttpOnly; SameSite=Strict" + (isSecure ? "; Secure" : "") }

    /// Returns the session's token from the values of `Cookie`.
    func token(in headers: [String]) -> String? {
        for header in headers {
            for pair in header.split(separator: ";") {
                let sides = pair.split(separator: "=", maxSplits: 1)
                guard sides.count == 2, sides[0].filter({ $0 != " " }) == name else { continue }
                return String(sides[1].filter { $0 != " " })
            }
        }
        return nil
    }
}
