extension ConfigurationSchema {
    /// The reference as in `docs/configuration.md`.
    static var reference: String {
        var parts = [introduction]
        parts += mappings.map(\.section)
        parts.append(values)
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static let introduction = """
        # Configuration reference

        Made from the program (`pikabot check --reference`); `config/schema.json` says the same to editors
        (`pikabot check --schema`). `config/echo.example.yaml` and `config/responder.example.yaml` are examples to begin
        with.

        The file is YAML, at most 1 MiB. Unknown keys, keys that are there twice and merge keys (`<<`) are errors; anchors
        and aliases of whole values may be used. Relative paths begin at the folder of the file. Variables such as `${HOME}`
        are not filled in, and are errors. **No secret stands in the file**, only [where it is](#a-reference-to-a-secret):
        what looks like a secret key, addresses with user name or password, and plain values under names that end in token,
        password, secret, authorization and the like, are refused and never shown.

        `pikabot check FILE` says everything that is wrong at once, each with line, column, key and what to write, the bots'
        own settings included; then it warns of what is missing around the file on this machine (keys, programs, folders),
        and prints the configuration with every default, without secrets. `pikabot run FILE` starts nothing unless all of
        that is right.

        On SIGHUP the file is read again. A file that is wrong changes nothing. The column *Change* says what a difference
        needs: *live* applies at once, *worker* waits for a restart of the account's worker (`pikabot restart`), *program*
        for one of `pikabot` itself. New accounts are started, removed ones stopped.
        """

    private static var values: String {
        let lines = SchemaText.all.map { "- **\($0.title)**: \($0.summary)" }
        let commands = ExternalBotConfiguration.knownCommands.map { "`\($0)`" }.joined(separator: ", ")
        return """
            ## Values

            \(lines.joined(separator: "\n"))
            - **command of the daemon**: One of \(commands); [daemon.md](daemon.md) describes them.
            """
    }
}

extension SchemaMapping {
    fileprivate var section: String {
        let rows = keys.map { key in
            "| `\(key.name)` | \(key.value.words) | \(key.absence.words(rule)) | \(key.effect.map(\.word) ?? "") "
                + "| \(key.summary.replacing("|", with: "\\|")) |"
        }
        let lead = rule == .exactlyOne ? "Exactly one of these.\n\n" : ""
        return """
            ## \(title)

            \(lead)| Key | Takes | Default | Change | Meaning |
            |---|---|---|---|---|
            \(rows.joined(separator: "\n"))
            """
    }

    /// A link to the heading, with GitHub's anchor.
    fileprivate var link: String {
        let anchor = title.lowercased().filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" }
        return "[\(title.prefix(1).lowercased() + title.dropFirst())](#\(anchor.replacing(" ", with: "-")))"
    }
}

extension SchemaKey.Absence {
    fileprivate func words(_ rule: SchemaMapping.Rule) -> String {
        switch self {
        case _ where rule == .exactlyOne: ""
        case .refused: "**required**"
        case .standard(let text): "`\(text)`"
        case .meaning(let text): text
        }
    }
}

extension ConfigurationChange.Effect {
    fileprivate var word: String {
        switch self {
        case .live: "live"
        case .restartsWorker, .addsAccount, .removesAccount: "worker"
        case .restartsSupervisor: "program"
        }
    }
}

extension SchemaValue {
    fileprivate var words: String {
        switch self {
        case .text(let text): text.title
        case .boolean: "`true`, `false`"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .choice(let words): words.map { "`\($0)`" }.joined(separator: ", ")
        case .list(of: let value, atLeast: let minimum): "list of \(value.manyWords)\(minimum > 0 ? ", not empty" : "")"
        case .mapping(let mapping): mapping.link
        case .table(of: let name, let value): "\(name.title): \(value.words)"
        case .either(let values): values.map(\.words).joined(separator: " or ")
        case .settings: "mapping"
        }
    }

    /// The plural, for elements of a list.
    private var manyWords: String {
        switch self {
        case .text(let text): text.title + (text.title.hasSuffix("s") ? "es" : "s")
        case .choice: "commands of the daemon"
        case .boolean, .integer, .list, .mapping, .table, .either, .settings: words
        }
    }
}
