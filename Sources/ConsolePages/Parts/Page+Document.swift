extension Page {
    /// The complete document.
    ///
    /// - Parameters:
    ///   - viewer: nil before the login.
    ///   - rev: the number of the shown snapshot.
    ///   - now: Unix seconds.
    package func document(for viewer: Viewer?, rev: UInt64, now: Int64) -> HTML {
        let events = ConsolePath.events(of: path).with(["cursor": cursor.map { "\($0)" }]).text
        let live: HTML = isLive && viewer != nil ? #" data-events="\#(events)""# : ""
        return #"""
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark"><meta name="robots" content="noindex"><title>\#(title) · pikabot</title>
            <link rel="stylesheet" href="\#(Asset.styleSheet.path)"><link rel="icon" href="\#(Asset.icon.path)" type="image/svg+xml">
            <script src="\#(Asset.script.path)" defer></script></head>
            <body data-rev="\#(rev)" data-now="\#(now)"\#(live)><a class="skip" href="#main">Skip to the content</a>
            <header class="bar"><p class="brand"><a href="/">pikabot</a></p>\#(viewer == nil ? HTML.empty : navigation)\#(viewer.map(Self.identity) ?? HTML.empty)</header>
            <main id="main" tabindex="-1"><h1>\#(HTML.name(title))</h1>
            \#(HTML(parts.map(\.element)))</main>
            <footer><p id="live" role="status">\#(isLive && viewer != nil ? "Without script this page shows the state of its loading." : "")</p></footer></body></html>
            """#
    }

    private var navigation: HTML {
        let items = HTML.each(Section.allCases) { section in
            let current: HTML = section == self.section ? #" aria-current="page""# : ""
            return #"<li><a href="\#(section.path.text)"\#(current)>\#(section.label)</a></li>"#
        }
        return #"<nav aria-label="Pages"><ul>\#(items)</ul></nav>"#
    }

    private static func identity(_ viewer: Viewer) -> HTML {
        #"""
        <form class="who" method="post" action="/logout"><span>\#(HTML.name(viewer.name)), \#(viewer.role.rawValue)</span>\#(HTML.formToken(viewer))<button type="submit" class="plain">Log out</button></form>
        """#
    }
}

extension Page.Part {
    /// The part in its element.
    var element: HTML { #"<div id="part-\#(id)">\#(html)</div>"# }
}

extension HTML {
    /// The hidden field that proves that a form is of this session.
    static func formToken(_ viewer: Viewer) -> HTML {
        #"<input type="hidden" name="token" value="\#(viewer.formToken)">"#
    }
}

extension ConsolePath {
    /// The stream of changes of a page.
    static func events(of path: ConsolePath) -> ConsolePath { events.with(["page": path.text]) }
}
