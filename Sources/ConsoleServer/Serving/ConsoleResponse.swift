import ConsolePages

/// A response, without the library that writes it.
struct ConsoleResponse: Sendable {
    enum Body: Sendable {
        case bytes([UInt8])
        case stream(LiveStream)
    }

    var status: Int
    /// By names in lower case.
    var headers: [String: String]
    var body: Body

    init(status: Int, contentType: String, body: Body) {
        self.status = status
        self.body = body
        headers = ["content-type": contentType]
    }

    static func html(_ html: HTML, status: Int = 200) -> ConsoleResponse {
        ConsoleResponse(status: status, contentType: "text/html; charset=utf-8", body: .bytes(Array(html.markup.utf8)))
    }

    static func text(_ text: String, status: Int = 200) -> ConsoleResponse {
        ConsoleResponse(status: status, contentType: "text/plain; charset=utf-8", body: .bytes(Array(text.utf8)))
    }

    /// Leads the browser to a page with GET (RFC 9110 §15.4.4).
    static func redirect(_ path: ConsolePath) -> ConsoleResponse {
        var response = text("", status: 303)
        response.headers["location"] = path.text
        return response
    }

    func with(_ name: String, _ value: String?) -> ConsoleResponse {
        var response = self
        response.headers[name] = value
        return response
    }

    /// Adds the headers that confine what a browser does with the response.
    ///
    /// Pages load nothing from other hosts, run no script and apply no style that is not a file of the console, and
    /// cannot be framed. Nothing but the versioned files is stored.
    var protected: ConsoleResponse {
        var response = self
        for (name, value) in Self.protection where response.headers[name] == nil { response.headers[name] = value }
        return response
    }

    private static let protection = [
        "content-security-policy":
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": "camera=(), geolocation=(), microphone=()",
        "cache-control": "no-store",
    ]
}
