/// Tables, lists and labels that the pages share.
extension HTML {
    /// A section with a heading.
    static func section(_ title: String, _ content: HTML) -> HTML { "<section><h2>\(title)</h2>\(content)</section>" }

    /// A table that scrolls sideways where it does not fit; its caption names it.
    ///
    /// - Parameters:
    ///   - isTitled: whether the heading above says the same as the caption, which is then not shown.
    ///   - empty: shown instead of a table without rows.
    static func table(
        _ caption: String, isTitled: Bool = false, _ heads: [String], _ rows: [HTML], empty: String
    ) -> HTML {
        guard !rows.isEmpty else { return #"<p class="empty">\#(empty)</p>"# }
        let hidden: HTML = isTitled ? #" class="hidden""# : ""
        let head = each(heads) { #"<th scope="col">\#($0)</th>"# }
        return #"""
            <div class="scroll" role="region" aria-label="\#(caption)" tabindex="0"><table><caption\#(hidden)>\#(caption)</caption><thead><tr>\#(head)</tr></thead><tbody>\#(HTML(rows))</tbody></table></div>
            """#
    }

    /// A row; its first cell names it.
    static func row(_ first: HTML, _ cells: [HTML]) -> HTML {
        #"<tr><th scope="row">\#(first)</th>\#(each(cells) { "<td>\($0)</td>" })</tr>"#
    }

    /// A list of facts: terms and their values.
    static func facts(_ facts: KeyValuePairs<String, HTML>) -> HTML {
        #"<dl class="facts">\#(each(facts) { "<div><dt>\($0.key)</dt><dd>\($0.value)</dd></div>" })</dl>"#
    }

    static func number(_ value: some FixedWidthInteger) -> HTML { #"<span class="number">\#(value)</span>"# }

    static func list(_ items: [HTML]) -> HTML { "<ul>\(each(items) { "<li>\($0)</li>" })</ul>" }

    /// The word for a worker's state, with a coloured mark.
    static func state(_ state: String) -> HTML {
        switch state {
        case "ready", "connected", "sent", "stored", "handled", "received", "running": mark("good", state)
        case "starting", "connecting", "pending", "finished", "stopped", "paused", "ignored", "waiting-for-relay":
            mark("idle", state)
        case "stopping": mark("idle", "draining")
        case "waiting": mark("bad", "restarting")
        case "retrying": mark("warn", "retrying")
        case "quarantined", "disconnected", "failed", "refused", "unreachable", "gave_up": mark("bad", state)
        default: mark("idle", state)
        }
    }

    static func mark(_ kind: StaticString, _ text: String) -> HTML {
        #"<span class="mark mark-\#(String(describing: kind))">\#(text)</span>"#
    }

    /// A link in the form of a button, to the page that asks before the action.
    static func button(_ action: ConsoleAction, for viewer: Viewer, about subject: String? = nil) -> HTML {
        guard viewer.role == .operate else { return empty }
        let hidden: HTML = subject.map { #"<span class="hidden"> \#($0)</span>"# } ?? ""
        return #"<a class="button" href="\#(action.path.text)">\#(action.label)\#(hidden)</a>"#
    }

    /// A notice in place of a worker's report.
    static func silence(_ reason: String) -> HTML {
        #"<p class="note">The account does not report: \#(HTML.sentence(reason)).</p>"#
    }
}
