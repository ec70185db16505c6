package import ConsoleReports

/// One chat: members, time line, deliveries, and the text of messages if the configuration allows it.
package struct ChatPage: Sendable, Hashable {
    package var account: String
    package var id: String
    package var detail: ChatDetail?
    /// The reason why there is no detail.
    package var silence: String?
    /// Unix seconds.
    package var now: Int64

    package init(account: String, id: String, detail: ChatDetail?, silence: String? = nil, now: Int64) {
        self.account = account
        self.id = id
        self.detail = detail
        self.silence = silence
        self.now = now
    }

    package func page(for viewer: Viewer) -> Page {
        let back: HTML = "<p>\(HTML.link(.account(account), "Account " + HTML.name(account)))</p>"
        var parts = [Page.Part("back", back)]
        if let detail {
            parts += [
                Page.Part("chat", facts(detail)), Page.Part("timeline", timeline(detail)),
                Page.Part("messages", messages(detail)), Page.Part("members", members(detail)),
            ]
        } else {
            parts += [
                Page.Part("chat", HTML.silence(silence ?? "it is not running")), Page.Part("timeline", HTML.empty),
                Page.Part("messages", HTML.empty), Page.Part("members", HTML.empty),
            ]
        }
        let name = detail?.chat.name ?? ""
        return Page(
            title: name.isEmpty ? "Chat \(id.prefix(12))" : name, section: nil, path: .chat(id, of: account),
            parts: parts)
    }

    private func facts(_ detail: ChatDetail) -> HTML {
        let chat = detail.chat
        let facts = HTML.facts([
            "State": HTML.chatState(chat), "Epoch": HTML.number(chat.epoch), "Members": HTML.number(chat.members),
            "Protocol": HTML(text: chat.generation), "Last message": HTML.time(chat.lastAt, now: now),
            "Id": HTML.id(chat.id, digits: 16),
            "Relays": detail.relays.isEmpty ? HTML.none : HTML.list(detail.relays.map { HTML.name($0) }),
        ])
        let proposals: HTML =
            detail.proposals.isEmpty
            ? HTML.empty : "<h3>Proposals that wait</h3>" + HTML.list(detail.proposals.map { HTML.sentence($0) })
        let description: HTML = detail.description.isEmpty ? "" : "<p>\(HTML.sentence(detail.description))</p>"
        return HTML.section("Chat", description + facts + proposals)
    }

    private func timeline(_ detail: ChatDetail) -> HTML {
        guard !detail.moments.isEmpty else {
            return HTML.section("Time line", #"<p class="empty">No commit since the worker's start.</p>"#)
        }
        let items = HTML.each(detail.moments.reversed()) { moment in
            let kind: HTML =
                moment.kind == .divergence || moment.kind == .withdrawn
                ? #" class="divergence""# : moment.isRollback ? #" class="rollback""# : ""
            return "<li\(kind)>\(HTML.time(moment.at, now: now)) \(Self.words(moment))</li>"
        }
        return HTML.section(
            "Time line",
            #"<p class="dim">Since the worker's start, newest first.</p><ol class="timeline">\#(items)</ol>"#)
    }

    private static func words(_ moment: MomentReport) -> HTML {
        let epoch: HTML = moment.epoch.map { "epoch \(HTML.number($0))" } ?? ""
        let who: HTML = moment.actor.map { HTML.id($0, digits: 16) } ?? "somebody"
        let changes: HTML =
            moment.changes.isEmpty ? "" : ": " + HTML.sentence(moment.changes.joined(separator: "; "))
        switch moment.kind {
        case .joined: return "joined by invitation of \(who), \(epoch)"
        case .commit:
            let mark: HTML = moment.isRollback ? HTML.mark("bad", "replaces another commit") + " " : ""
            return "\(mark)\(epoch) by \(who)\(changes)"
        case .withdrawn: return HTML.mark("warn", "withdrawn") + " a message of \(who) left the history, \(epoch)"
        case .restored: return "a message of \(who) returned to the history, \(epoch)"
        case .divergence: return HTML.mark("warn", "divergence") + changes
        }
    }

    private func messages(_ detail: ChatDetail) -> HTML {
        var heads = ["Time", "From", "Kind", "Epoch", "Delivery", "Id"]
        if detail.hasContents { heads.append("Text") }
        let rows = detail.messages.map { message -> HTML in
            let reason: HTML = message.reason.map { ": " + HTML.sentence($0) } ?? ""
            var cells = [
                message.isOwn ? "this account" : HTML.id(message.sender, digits: 16), HTML.number(message.kind),
                HTML.number(message.epoch), HTML.state(message.delivery) + reason, HTML.id(message.id),
            ]
            if detail.hasContents { cells.append(message.content.map { "<bdi>\($0)</bdi>" } ?? HTML.none) }
            return HTML.row(HTML.time(message.at, now: now), cells)
        }
        let table = HTML.table("Newest messages", heads, rows, empty: "No messages are stored.")
        guard detail.hasContents else { return HTML.section("Messages", table) }
        return HTML.section(
            "Messages",
            #"<p class="note error">Private content: the configuration shows the text of messages (observe.console.contents).</p><div class="contents">\#(table)</div>"#
        )
    }

    private func members(_ detail: ChatDetail) -> HTML {
        let rows = detail.members.map { member in
            HTML.row(
                member.name.map { HTML.name($0) } ?? HTML.id(member.npub, digits: 16),
                [
                    HTML.id(member.npub, digits: 16),
                    HTML(text: (member.isAdmin ? "admin" : "member") + (member.isSelf ? ", this account" : "")),
                ])
        }
        let rest = detail.chat.members - detail.members.count
        let more: HTML = rest > 0 ? #"<p class="dim">\#(rest) more members are not shown.</p>"# : ""
        return HTML.section(
            "Members",
            HTML.table(
                "Members", isTitled: true, ["Name", "Key", "Role"], rows, empty: "The account is no longer a member.")
                + more
        )
    }
}
