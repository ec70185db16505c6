import ConsoleReports

/// All accounts, with problems on top.
package struct OverviewPage: Sendable, Hashable {
    package var snapshot: ConsoleSnapshot

    package init(_ snapshot: ConsoleSnapshot) {
        self.snapshot = snapshot
    }

    package func page(for viewer: Viewer) -> Page {
        Page(
            title: "Overview", section: .overview, path: .overview,
            parts: [
                Page.Part("problems", problems), Page.Part("accounts", accounts), Page.Part("program", program),
                Page.Part("actions", actions),
            ])
    }

    private var now: Int64 { snapshot.takenAt }

    private var problems: HTML {
        let problems = snapshot.problems
        guard !problems.isEmpty else {
            return HTML.section("Problems", #"<p class="note good">No problems are known.</p>"#)
        }
        // More would not be read; the rest is on the pages of the accounts.
        let shown = problems.prefix(50)
        let rest = problems.count - shown.count
        let more: HTML = rest > 0 ? #"<p class="dim">\#(rest) more are on the pages of the accounts.</p>"# : ""
        return HTML.section("Problems (\(problems.count))", HTML.problems(Array(shown)) + more)
    }

    private var accounts: HTML {
        let heads = [
            "Account", "State", "Since", "Restarts", "Relays", "Canary", "Waiting", "Answers per minute", "Chats",
        ]
        let table = HTML.table(
            "Accounts", isTitled: true, heads, snapshot.accounts.map(row),
            empty: "No account of the file belongs to this process.")
        return HTML.section("Accounts", table)
    }

    private func row(_ account: AccountStatus) -> HTML {
        let summary = account.summary
        let counters = summary?.counters
        let waiting: HTML =
            counters.map { #"<span class="number">\#($0.inbox) in, \#($0.outbox) out</span>"# } ?? HTML.none
        return HTML.row(
            HTML.link(.account(account.name), HTML.name(account.name)),
            [
                HTML.state(account.state), HTML.time(account.since, now: now), HTML.number(account.restarts),
                summary.map(Self.relays) ?? HTML.none,
                counters?.canaryMilliseconds.map { HTML(text: "\(HTML.short($0)) ms") } ?? HTML.none, waiting,
                Sparkline("answers per minute", account.history.rates { $0.answered }).html,
                summary.map { HTML.number($0.chats) } ?? HTML.none,
            ])
    }

    static func relays(_ summary: AccountSummary) -> HTML {
        let text = "\(summary.connectedRelays) of \(summary.relays)"
        return summary.connectedRelays == summary.relays
            ? HTML(text: text) : HTML.mark(summary.connectedRelays == 0 ? "bad" : "warn", text)
    }

    private var program: HTML {
        HTML.section(
            "Program",
            HTML.facts([
                "Version": HTML(text: snapshot.version), "Process": HTML.number(snapshot.process),
                "Running for": HTML(text: HTML.span(snapshot.uptime)), "Configuration": HTML.name(snapshot.file),
                "Shard": snapshot.shard.map { HTML(text: $0) } ?? HTML.none,
                "Last reload": snapshot.reload.at.map {
                    HTML.time($0, now: now) + (snapshot.reload.isSuccess ? HTML.empty : ", failed")
                } ?? HTML.none,
            ]))
    }

    private var actions: HTML {
        let rows = snapshot.actions.map { record in
            HTML.row(
                HTML.time(record.at, now: now),
                [
                    HTML.name(record.operatorName), HTML.sentence(record.text),
                    record.failure.map { HTML.mark("bad", "failed: ") + HTML.sentence($0) }
                        ?? HTML.mark("good", "done"),
                ])
        }
        let table = HTML.table(
            "Actions of operators since the start", ["When", "Who", "What", "Result"], rows,
            empty: "Nobody has acted through the console since the start.")
        return HTML.section("Actions", table)
    }
}

extension HTML {
    /// Problems with what to do about each.
    static func problems(_ problems: [Problem]) -> HTML {
        let items = each(problems) { problem in
            let kind: HTML = problem.level == .error ? #" class="error""# : ""
            let who: HTML = problem.account.map { HTML.link(.account($0), HTML.name($0)) + ": " } ?? HTML.empty
            let level = problem.level == .error ? mark("bad", "error") : mark("warn", "warning")
            return """
                <li\(kind)><p>\(level) \(who)\(HTML.sentence(problem.text))</p><p class="advice">\(HTML.sentence(problem.advice))</p></li>
                """
        }
        return #"<ul class="problems">\#(items)</ul>"#
    }
}
