/// The newest log lines, with a filter; new lines follow live.
package struct LogsPage: Sendable, Hashable {
    package struct Filter: Sendable, Hashable {
        package var account: String?
        package var level: LogLine.Level

        package init(account: String? = nil, level: LogLine.Level = .info) {
            self.account = account
            self.level = level
        }

        package func admits(_ line: LogLine) -> Bool {
            line.level >= level && (account == nil || line.account == account)
        }

        package var path: ConsolePath { ConsolePath.logs.with(["account": account, "level": level.rawValue]) }
    }

    /// Lines of one page, and of one live update.
    package static let lines = 300

    package var filter: Filter
    package var accounts: [String]
    /// Oldest first.
    package var lines: [LogLine]
    /// The number of the newest line, shown or not.
    private let newest: Int

    package init(filter: Filter, accounts: [String], lines: [LogLine]) {
        self.filter = filter
        self.accounts = accounts
        newest = lines.last?.number ?? 0
        self.lines = Array(lines.filter(filter.admits).suffix(Self.lines))
    }

    package func page(for viewer: Viewer) -> Page {
        Page(
            title: "Logs", section: .logs, path: filter.path, cursor: newest,
            parts: [Page.Part("filter", form, isFixed: true), Page.Part("log", log, isFixed: true)])
    }

    private var form: HTML {
        let all: HTML = #"<option value="">all accounts</option>"#
        let options = HTML.each(accounts) { HTML.option($0, selected: $0 == filter.account) }
        let levels = HTML.each(LogLine.Level.allCases) { HTML.option($0.rawValue, selected: $0 == filter.level) }
        return HTML.section(
            "Filter",
            #"""
            <form class="fields" method="get" action="/logs"><label>Account <select name="account">\#(all)\#(options)</select></label>
            <label>Lowest level <select name="level">\#(levels)</select></label><button type="submit" class="primary">Show</button></form>
            """#)
    }

    /// A table in any case, so that live lines have a place.
    private var log: HTML {
        #"""
        <section><h2>Newest lines</h2><div class="scroll" role="region" aria-label="Log lines, oldest first" tabindex="0"><table class="log"><caption>Log lines, oldest first</caption>
        <thead><tr><th scope="col">Time</th><th scope="col">Account</th><th scope="col">Level</th><th scope="col">Line</th></tr></thead><tbody id="log-lines">\#(Self.rows(lines))</tbody></table></div></section>
        """#
    }

    /// Rows of the table, also those that a live update appends.
    package static func rows(_ lines: [LogLine]) -> HTML {
        HTML.each(lines) { line in
            let absolute = HTML.absolute(line.time / 1000)
            return #"""
                <tr class="\#(line.level.rawValue)"><th scope="row"><time datetime="\#(absolute)" title="\#(absolute)">\#(String(absolute.dropFirst(11).prefix(8)))</time></th><td>\#(HTML.name(line.account))</td><td>\#(line.level.rawValue)</td><td>\#(HTML.sentence(line.text))</td></tr>
                """#
        }
    }
}
