/// The configuration in force, the changes that a reload would make, and the validation of a text.
package struct ConfigurationPage: Sendable, Hashable {
    /// The difference between the file and the configuration in force.
    package enum Preview: Sendable, Hashable {
        case changes([Change])
        case problems([FileProblem])
    }

    package struct Change: Sendable, Hashable {
        package var path: String
        package var old: String?
        package var new: String?
        /// The consequence in words, such as `applies at once`.
        package var effect: String

        package init(path: String, old: String?, new: String?, effect: String) {
            self.path = path
            self.old = old
            self.new = new
            self.effect = effect
        }
    }

    /// A text that a viewer has validated.
    package struct Validation: Sendable, Hashable {
        package var text: String
        package var result: Preview

        package init(text: String, result: Preview) {
            self.text = text
            self.result = result
        }
    }

    package var snapshot: ConsoleSnapshot
    /// The configuration in force with all defaults, without secrets.
    package var effective: String
    package var preview: Preview
    package var validation: Validation?

    package init(_ snapshot: ConsoleSnapshot, effective: String, preview: Preview, validation: Validation? = nil) {
        self.snapshot = snapshot
        self.effective = effective
        self.preview = preview
        self.validation = validation
    }

    package func page(for viewer: Viewer) -> Page {
        Page(
            title: "Configuration", section: .configuration, path: .configuration, isLive: validation == nil,
            parts: [
                Page.Part("reload", reload), Page.Part("preview", changes(viewer)),
                Page.Part("validate", form(viewer), isFixed: true),
                Page.Part("effective", inForce),
            ])
    }

    private var reload: HTML {
        let reload = snapshot.reload
        guard let at = reload.at else {
            return HTML.section("Last reload", #"<p class="dim">The file was not reloaded since the start.</p>"#)
        }
        let when = HTML.time(at, now: snapshot.takenAt)
        guard reload.problems.isEmpty else {
            return HTML.section(
                "Last reload",
                #"<p class="note error">Failed \#(when): the file is invalid, and the previous configuration stays in effect.</p>"#
                    + Self.table(reload.problems, caption: "Problems of the last reload"))
        }
        let result: HTML =
            reload.isSuccess
            ? #"<p class="note good">Succeeded \#(when).</p>"# : #"<p class="note error">Incomplete \#(when).</p>"#
        let lists = [
            ("Applied", reload.applied), ("Waiting for a restart", reload.waiting), ("Refused", reload.refused),
        ]
        let lines = HTML.each(lists.filter { !$0.1.isEmpty }) { title, entries in
            "<h3>\(title)</h3>" + HTML.list(entries.prefix(100).map { HTML.sentence($0) })
        }
        return HTML.section("Last reload", result + lines)
    }

    private func changes(_ viewer: Viewer) -> HTML {
        let button: HTML = #"<p class="actions">\#(HTML.button(.reload, for: viewer))</p>"#
        return HTML.section(
            "What a reload would change", Self.html(preview, empty: "Nothing: the file is in force.") + button)
    }

    private static func html(_ preview: Preview, empty: String) -> HTML {
        switch preview {
        case .problems(let problems):
            return #"<p class="note error">The file is invalid: a reload would change nothing.</p>"#
                + table(problems, caption: "Problems of the file")
        case .changes(let changes):
            let rows = changes.prefix(200).map { change in
                HTML.row(
                    "<code>\(HTML.name(change.path))</code>",
                    [
                        change.old.map { "<del>\(HTML.sentence($0))</del>" } ?? HTML.none,
                        change.new.map { "<ins>\(HTML.sentence($0))</ins>" } ?? HTML.none, HTML(text: change.effect),
                    ])
            }
            return HTML.table("Changes", ["Key", "In force", "New", "Effect"], rows, empty: empty)
        }
    }

    private static func table(_ problems: [FileProblem], caption: String) -> HTML {
        let rows = problems.prefix(100).map { problem in
            HTML.row(
                "line \(HTML.number(problem.line))",
                [
                    HTML.number(problem.column), "<code>\(HTML.name(problem.path))</code>",
                    HTML.sentence(problem.expected), HTML.sentence(problem.found), HTML.sentence(problem.fix),
                ])
        }
        return HTML.table(caption, ["Line", "Column", "Key", "Expected", "Found", "What to do"], rows, empty: "")
    }

    private func form(_ viewer: Viewer) -> HTML {
        guard viewer.role == .operate else { return HTML.empty }
        let result = validation.map(Self.outcome) ?? HTML.empty
        return HTML.section(
            "Validate a text",
            result + #"""
                <form method="post" action="/configuration/validate">\#(HTML.formToken(viewer))<label class="field">The edited text of the file; it is checked, not saved <textarea name="text" spellcheck="false" required>\#(validation?.text ?? "")</textarea></label>
                <p class="actions"><button type="submit" class="primary">Validate</button></p></form>
                """#)
    }

    private static func outcome(_ validation: Validation) -> HTML {
        switch validation.result {
        case .changes(let changes):
            return #"<p class="note good">The text is valid.</p>"#
                + (changes.isEmpty
                    ? "<p>It equals the configuration in force.</p>" : html(validation.result, empty: ""))
        case .problems(let problems):
            return #"<p class="note error">The text is invalid.</p>"# + numbered(validation.text, problems)
        }
    }

    /// The text with numbered lines, each problem below its line.
    private static func numbered(_ text: String, _ problems: [FileProblem]) -> HTML {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // Problems beyond the last line are shown at it.
        let byLine = Dictionary(grouping: problems) { min(max($0.line, 1), lines.count) }
        let around = Set(byLine.keys.flatMap { line in max(1, line - 3)...min(lines.count, line + 3) })
        var last = 0
        let items = HTML.each(around.sorted()) { number in
            defer { last = number }
            let gap: HTML = number > last + 1 ? #"<li><span class="at">⋮</span></li>"# : ""
            let line = String(lines[number - 1])
            let code: HTML = "<code>\(line)</code>"
            guard let found = byLine[number] else {
                return gap + #"<li><span class="at">\#(number)</span>\#(code)</li>"#
            }
            let reasons = HTML.each(found) { problem in
                #"<p class="why">Column \#(problem.column): expected \#(HTML.sentence(problem.expected)), found \#(HTML.sentence(problem.found)); \#(HTML.sentence(problem.fix))</p>"#
            }
            return gap
                + #"<li class="wrong" id="line-\#(number)"><span class="at">\#(number)</span>\#(code)\#(reasons)</li>"#
        }
        return #"<ol class="numbered" tabindex="0" aria-label="Lines with problems">\#(items)</ol>"#
    }

    private var inForce: HTML {
        HTML.section(
            "In force",
            #"<p class="dim">With all defaults. Secrets are never shown; keys appear as references to files.</p><pre tabindex="0" role="region" aria-label="Configuration in force">\#(effective)</pre>"#
        )
    }
}
