/// The page before the login. The one-time link leads here; only its button uses the link up, so that a program that
/// follows links cannot.
package struct LoginPage: Sendable, Hashable {
    /// The token of the link; nil without one.
    package var token: String?
    package var problem: String?
    /// Whether the configuration names keys that may log in.
    package var offersKeys: Bool

    package init(token: String?, problem: String? = nil, offersKeys: Bool) {
        self.token = token
        self.problem = problem
        self.offersKeys = offersKeys
    }

    package var page: Page {
        Page(
            title: "Log in", section: nil, path: .login, isLive: false,
            parts: [Page.Part("login", #"<section class="login">\#(notice)\#(link)\#(key)</section>"#)])
    }

    private var notice: HTML { problem.map { #"<p class="note error" role="alert">\#($0)</p>"# } ?? HTML.empty }

    private var link: HTML {
        guard let token else {
            return "<p>Run <code>pikabot console FILE</code> on the machine, and open the link that it prints.</p>"
        }
        return #"""
            <p>This link logs you in once.</p><form method="post" action="/login"><input type="hidden" name="token" value="\#(token)"><p class="actions"><button type="submit" class="primary">Log in</button></p></form>
            """#
    }

    private var key: HTML {
        guard offersKeys else { return HTML.empty }
        return #"""
            <h2>With a Nostr key</h2><p>A key that the configuration names can log in through a browser extension (NIP-07).</p>
            <p class="actions"><button type="button" id="nostr" hidden>Log in with a key</button></p><p id="nostr-problem" role="alert"></p>
            """#
    }
}

/// The page that asks before an action.
package struct ConfirmationPage: Sendable, Hashable {
    package var action: ConsoleAction

    package init(_ action: ConsoleAction) {
        self.action = action
    }

    package func page(for viewer: Viewer) -> Page {
        let fields = HTML(
            action.fields.compactMap { name, value -> HTML? in
                value.map { #"<input type="hidden" name="\#(name)" value="\#($0)">"# }
            })
        let question: HTML = """
            <section class="login"><p><strong>Really \(HTML.sentence(action.text))?</strong></p><p>\(action.consequence)</p>
            <form method="post" action="\(ConsolePath.action(action.name).text)">\(HTML.formToken(viewer))\(fields)
            <p class="actions"><button type="submit" class="primary">\(action.label)</button><a class="button" href="\(action.origin.text)">Cancel</a></p></form></section>
            """
        return Page(
            title: "\(action.label)?", section: nil, path: action.path, isLive: false,
            parts: [Page.Part("question", question)])
    }
}

/// A page with one message, for refusals and failures.
package struct MessagePage: Sendable, Hashable {
    package var title: String
    package var text: String
    package var back: ConsolePath

    package init(title: String, text: String, back: ConsolePath = .overview) {
        self.title = title
        self.text = text
        self.back = back
    }

    package var page: Page {
        let content: HTML = """
            <section class="login"><p class="note error" role="alert">\(HTML.sentence(text))</p><p>\(HTML.link(back, "Back"))</p></section>
            """
        return Page(
            title: title, section: nil, path: back, isLive: false, parts: [Page.Part("message", content)])
    }
}
