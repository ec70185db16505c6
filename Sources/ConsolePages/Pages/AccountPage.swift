package import ConsoleReports

/// One account: relays, key packages, chats, bots, invitations and charts.
package struct AccountPage: Sendable, Hashable {
    package var snapshot: ConsoleSnapshot
    package var status: AccountStatus
    /// Nil with a reason while the worker does not answer.
    package var report: AccountReport?
    package var silence: String?

    package init(_ snapshot: ConsoleSnapshot, status: AccountStatus, report: AccountReport?, silence: String? = nil) {
        self.snapshot = snapshot
        self.status = status
        self.report = report
        self.silence = silence
    }

    private var now: Int64 { snapshot.takenAt }

    package func page(for viewer: Viewer) -> Page {
        var parts = [Page.Part("state", state(viewer))]
        if let report {
            parts += [
                Page.Part("invitations", invitations(report, viewer)), Page.Part("relays", relays(report)),
                Page.Part("keypackages", keyPackages(report)), Page.Part("bots", bots(report, viewer)),
                Page.Part("charts", charts), Page.Part("chats", chats(report)),
            ]
        } else {
            // The same parts, so that a live page fills them when the worker is back.
            parts += [
                Page.Part("invitations", HTML.empty), Page.Part("relays", HTML.silence(silence ?? "it is not running")),
                Page.Part("keypackages", HTML.empty), Page.Part("bots", HTML.empty), Page.Part("charts", charts),
                Page.Part("chats", HTML.empty),
            ]
        }
        return Page(title: status.name, section: nil, path: .account(status.name), parts: parts)
    }

    private func state(_ viewer: Viewer) -> HTML {
        let counters = report?.summary.counters ?? status.summary?.counters
        let facts = HTML.facts([
            "State": HTML.state(status.state), "Since": HTML.time(status.since, now: now),
            "Process": status.process.map { HTML.number($0) } ?? HTML.none, "Restarts": HTML.number(status.restarts),
            "Last exit": status.lastExit.map { HTML.sentence($0) } ?? HTML.none,
            "Key": (report?.summary ?? status.summary).map { HTML.id($0.npub, digits: 16) } ?? HTML.none,
            "Waiting for the bots": counters.map { queue($0.inbox, $0.inboxAge) } ?? HTML.none,
            "Waiting for a relay": counters.map { queue($0.outbox, $0.outboxAge) } ?? HTML.none,
            "Undelivered messages": report.map { HTML.number($0.deadLetters) } ?? HTML.none,
            "Not yet readable": report.map { HTML(text: "\($0.parked) events, \($0.parkedBytes / 1024) KiB") }
                ?? HTML.none,
        ])
        let buttons = [ConsoleAction.restart(account: status.name), .stop(account: status.name)]
        let actions: HTML =
            #"<p class="actions">\#(HTML.each(buttons) { HTML.button($0, for: viewer) })\#(HTML.link(ConsolePath.logs.with(["account": status.name]), "Log"))</p>"#
        let problems = status.problems
        let list = problems.isEmpty ? HTML.empty : HTML.problems(problems)
        return HTML.section("State", list + facts + actions)
    }

    private func queue(_ count: Int, _ age: Int64) -> HTML {
        count == 0 ? HTML(text: "none") : HTML(text: "\(count), the oldest for \(HTML.span(age))")
    }

    private func invitations(_ report: AccountReport, _ viewer: Viewer) -> HTML {
        guard !report.invitations.isEmpty else { return HTML.empty }
        let rows = report.invitations.map { invitation in
            HTML.row(
                HTML.name(invitation.group ?? "a group without a name"),
                [
                    HTML.id(invitation.inviter, digits: 16), invitation.members.map { HTML.number($0) } ?? HTML.none,
                    HTML.button(
                        .accept(account: status.name, invitation: invitation.id), for: viewer,
                        about: "the invitation to \(invitation.group ?? invitation.id)".limited(to: 80)) + " "
                        + HTML.button(
                            .decline(account: status.name, invitation: invitation.id), for: viewer,
                            about: "the invitation to \(invitation.group ?? invitation.id)".limited(to: 80)),
                ])
        }
        return HTML.section(
            "Invitations",
            HTML.table(
                "Invitations that wait for a decision", ["Group", "From", "Members", "Decision"], rows, empty: ""))
    }

    private func relays(_ report: AccountReport) -> HTML {
        let rows = report.relays.map { relay in
            HTML.row(
                HTML.name(relay.url),
                [
                    relayState(relay), HTML(text: relay.isCaughtUp ? "yes" : "no"), canary(relay), gap(relay.gap),
                    HTML(text: relay.isConfigured ? "configuration" : "a group"),
                ])
        }
        return HTML.section(
            "Relays",
            HTML.table(
                "Relays", isTitled: true, ["Relay", "State", "Caught up", "Round trip", "Last gap", "Named by"], rows,
                empty: "The account has no relay."))
    }

    private func relayState(_ relay: RelayReport) -> HTML {
        let reason: HTML = relay.reason.map { ": " + HTML.sentence($0) } ?? ""
        return HTML.state(relay.state) + reason
    }

    private func canary(_ relay: RelayReport) -> HTML {
        guard let at = relay.canaryAt else { return HTML.none }
        if let failure = relay.canaryFailure { return HTML.mark("bad", failure) + " " + HTML.time(at, now: now) }
        return relay.canaryMilliseconds.map { HTML(text: "\($0) ms, ") + HTML.time(at, now: now) } ?? HTML.none
    }

    private func gap(_ gap: RelayReport.Gap?) -> HTML {
        guard let gap else { return HTML.none }
        guard gap.isRead else {
            return HTML.mark("warn", "not read yet") + HTML(text: ", \(gap.failedReads) failed attempts")
        }
        let from: HTML = gap.from.map { HTML.time($0, now: now) + " to " } ?? "up to "
        let events = HTML(text: ": \(gap.recovered) events read, \(gap.unknown) not readable yet")
        return #"<span class="sentence">\#(from + HTML.time(gap.to, now: now) + events)</span>"#
    }

    private func keyPackages(_ report: AccountReport) -> HTML {
        let package = report.keyPackage
        guard package.isAnnounced else {
            return HTML.section("Key packages", "<p>The account announces none: others cannot invite it.</p>")
        }
        let facts = HTML.facts([
            "Published": package.isPublished ? HTML.mark("good", "yes") : HTML.mark("bad", "no relay has it"),
            "Expires": HTML.time(package.expiresAt, now: now),
            "Event": package.event.map { HTML.id($0) } ?? HTML.none,
        ])
        let rows = package.answers.map { answer in
            HTML.row(
                HTML.name(answer.relay),
                [HTML.state(answer.state), answer.reason.map { HTML.sentence($0) } ?? HTML.none])
        }
        let table = HTML.table(
            "Answers to the newest announcement", ["Relay", "Answer", "Reason"], rows,
            empty: "Nothing was announced since the start: the earlier key package is valid.")
        return HTML.section("Key packages", facts + table)
    }

    private func bots(_ report: AccountReport, _ viewer: Viewer) -> HTML {
        let rows = report.bots.map { bot in
            let action: ConsoleAction =
                bot.isPaused
                ? .resume(account: status.name, bot: bot.name) : .pause(account: status.name, bot: bot.name)
            let program: HTML = bot.program.map { HTML(text: ", program \($0), \(bot.programRestarts) restarts") } ?? ""
            let errors = bot.errors + bot.timeouts
            let failures =
                errors > 0
                ? HTML.mark("warn", "\(HTML.short(bot.errors)) errors, \(HTML.short(bot.timeouts)) timeouts")
                : HTML(text: "none")
            let hanging: HTML = bot.hanging > 0 ? " " + HTML.mark("bad", "\(bot.hanging) hang") : ""
            return HTML.row(
                HTML.name(bot.name),
                [
                    HTML.state(bot.isPaused ? "paused" : "running") + program, HTML.name(bot.kind),
                    HTML(text: HTML.short(bot.calls)), failures + hanging,
                    bot.limits.isEmpty ? HTML.none : HTML.sentence(bot.limits.joined(separator: ", ")),
                    HTML.button(action, for: viewer, about: bot.name),
                ])
        }
        return HTML.section(
            "Bots",
            HTML.table(
                "Bots since the worker's start", ["Bot", "State", "Kind", "Calls", "Failures", "Limits", "Action"],
                rows,
                empty: "The account has no bots."))
    }

    private var charts: HTML {
        let history = status.history
        let beginning = history.beginning.map { HTML.relative($0, now: snapshot.takenAt) } ?? ""
        let charts = [
            Chart(
                "Events and answers", unit: "per minute",
                series: [
                    .init("received", history.rates { $0.received }), .init("sent", history.rates { $0.answered }),
                    .init("failed", history.rates { $0.failed }),
                ], from: beginning),
            Chart(
                "Latency", unit: "ms, mean",
                series: [
                    .init("handlers", history.means(of: { $0.handlerSeconds }, per: { $0.handlerCalls })),
                    .init("first acknowledgement", history.means(of: { $0.publishSeconds }, per: { $0.publishes })),
                    .init("canary", history.values { $0.canaryMilliseconds }),
                ], from: beginning),
            Chart(
                "Waiting", unit: "events",
                series: [
                    .init("for the bots", history.values { Double($0.inbox) }),
                    .init("for a relay", history.values { Double($0.outbox) }),
                ], from: beginning),
        ]
        return HTML.section("Last hour", #"<div class="grid">\#(HTML(charts.map(\.html)))</div>"#)
    }

    private func chats(_ report: AccountReport) -> HTML {
        let rows = report.chats.map { chat in
            HTML.row(
                HTML.link(.chat(chat.id, of: status.name), HTML.name(chat.name.isEmpty ? chat.id : chat.name)),
                [
                    HTML.number(chat.members), HTML.number(chat.epoch), HTML.time(chat.lastAt, now: now),
                    HTML(text: chat.generation), HTML.chatState(chat),
                ])
        }
        let rest = report.chatCount - report.chats.count
        let more: HTML = rest > 0 ? #"<p class="dim">\#(rest) chats with older messages are not shown.</p>"# : ""
        let table = HTML.table(
            "Chats, newest message first", ["Chat", "Members", "Epoch", "Last message", "Protocol", "State"], rows,
            empty: "The account is in no chat.")
        return HTML.section("Chats (\(report.chatCount))", table + more)
    }
}

extension HTML {
    /// The state of a chat: active, diverged or ended.
    static func chatState(_ chat: ChatReport) -> HTML {
        if let ended = chat.ended { return mark("idle", ended) }
        if let divergence = chat.divergence { return mark("warn", divergence) }
        return chat.isActive ? mark("good", "active") : mark("idle", "inactive")
    }
}
