package import ConsoleReports

/// The fates of an event, or of the events of a time span: the same answer as `pikabot why`, as a table.
package struct WhyPage: Sendable, Hashable {
    package struct Answer: Sendable, Hashable {
        package var account: String
        package var fates: EventFates?
        package var failure: String?

        package init(account: String, fates: EventFates?, failure: String? = nil) {
            self.account = account
            self.fates = fates
            self.failure = failure
        }
    }

    /// The query of the form; empty texts are absent.
    package struct Query: Sendable, Hashable {
        package var event = ""
        package var account = ""
        /// The last minutes to explain; empty for an event.
        package var minutes = ""

        package init(event: String = "", account: String = "", minutes: String = "") {
            self.event = event
            self.account = account
            self.minutes = minutes
        }

        package var isEmpty: Bool { event.isEmpty && minutes.isEmpty }
        package var path: ConsolePath {
            ConsolePath.why.with([
                "event": event.isEmpty ? nil : event, "account": account.isEmpty ? nil : account,
                "minutes": minutes.isEmpty ? nil : minutes,
            ])
        }
    }

    package var query: Query
    package var accounts: [String]
    package var answers: [Answer]
    package var now: Int64

    package init(query: Query, accounts: [String], answers: [Answer], now: Int64) {
        self.query = query
        self.accounts = accounts
        self.answers = answers
        self.now = now
    }

    package func page(for viewer: Viewer) -> Page {
        Page(
            title: "Why", section: .why, path: query.path, isLive: false,
            parts: [Page.Part("form", form), Page.Part("answers", result)])
    }

    private var form: HTML {
        let all: HTML = #"<option value="">all accounts</option>"#
        let options = HTML.each(accounts) { HTML.option($0, selected: $0 == query.account) }
        let times = [
            ("", "any time"), ("15", "the last 15 minutes"), ("60", "the last hour"), ("1440", "the last day"),
        ]
        let spans = HTML.each(times) { value, label in
            let selected: HTML = value == query.minutes ? " selected" : ""
            return #"<option value="\#(value)"\#(selected)>\#(label)</option>"#
        }
        return HTML.section(
            "Question",
            #"""
            <form class="fields" method="get" action="/why"><label>Event id, or its first digits <input name="event" value="\#(query.event.limited(to: 100))" size="34" spellcheck="false" autocomplete="off" maxlength="64"></label>
            <label>Time <select name="minutes">\#(spans)</select></label><label>Account <select name="account">\#(all)\#(options)</select></label>
            <button type="submit" class="primary">Explain</button></form>
            """#)
    }

    private var result: HTML {
        guard !query.isEmpty else {
            return #"<p class="dim">Give the id of a message, a commit or a wrapping event, or choose a time.</p>"#
        }
        let failures = answers.compactMap { answer in answer.failure.map { (answer.account, $0) } }
        let notes = HTML.each(failures) { account, reason in
            #"<p class="note error">\#(HTML.name(account)): \#(HTML.sentence(reason))</p>"#
        }
        let known = answers.filter { $0.fates.map { !$0.events.isEmpty || !$0.waitingSince.isEmpty } ?? false }
        guard !known.isEmpty else {
            let words = answers.lazy.compactMap(\.fates).first?.lines ?? ["No account is running."]
            return notes + HTML.section("Answer", HTML.each(words.prefix(20)) { "<p>\(HTML.sentence($0))</p>" })
        }
        return notes + HTML.each(known, table)
    }

    private func table(_ answer: Answer) -> HTML {
        let fates = answer.fates
        let waiting = HTML.each(fates?.waitingSince.prefix(20) ?? []) { since in
            #"<p class="note">An event is queued or handled since \#(HTML.time(since, now: now)).</p>"#
        }
        let rows = (fates?.events ?? []).prefix(ReportLimits.entries).map { entry -> HTML in
            let detail: HTML = entry.detail.isEmpty ? "" : " (\(HTML.name(entry.detail)))"
            let change: HTML = entry.change.map { HTML(text: "\($0): ") } ?? ""
            return HTML.row(
                HTML.time(entry.at, now: now),
                [
                    (entry.id ?? entry.wrapper).map { HTML.id($0) } ?? HTML.none,
                    entry.chat.map { HTML.id($0) } ?? HTML.none, entry.bot.map { HTML.name($0) } ?? "all",
                    HTML.state(entry.fate), change + HTML.sentence(entry.sentence) + detail,
                    entry.advice.isEmpty ? HTML.none : HTML.sentence(entry.advice),
                ])
        }
        let table = HTML.table(
            "Fates in the account \(answer.account)", ["Time", "Event", "Chat", "Bot", "Fate", "Why", "What to do"],
            rows,
            empty: "")
        return HTML.section("Account \(answer.account)", waiting + (rows.isEmpty ? HTML.empty : table))
    }
}

extension HTML {
    static func option(_ value: String, selected: Bool) -> HTML {
        let mark: HTML = selected ? " selected" : ""
        return #"<option value="\#(value)"\#(mark)>\#(value)</option>"#
    }
}
