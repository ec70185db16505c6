import BotDispatch
import PikaCore
import ProcessSupport
import Yams

extension ConfigurationParser {
    func externalBot(_ value: ConfigurationValue) -> BotConfiguration? {
        guard let fields = value.fields(ConfigurationSchema.externalBot) else { return nil }
        let command = fields.required("command")
            .flatMap { words($0, fix: "write for example command: [python3, bots/scribe.py]") }
        var program = ExternalBotConfiguration(command: command ?? [], directory: folder)
        if let allow = fields.optional("allow") { read(allow, into: &program) }
        let directory = fields.optional("directory")?.string(expected: "a path", fix: "write for example directory: .")
        program.directory = directory.map(resolved) ?? program.directory
        program.environment = fields.optional("environment").map(environment) ?? [:]
        program.restart = fields.optional("restart")?.choice(of: RestartKind.self) ?? program.restart
        let policy = self.policy(fields)
        guard command != nil else { return nil }
        return BotConfiguration(name: program.standardName, source: .external(program), policy: policy)
    }

    private func read(_ value: ConfigurationValue, into program: inout ExternalBotConfiguration) {
        guard let fields = value.fields(ConfigurationSchema.allow) else { return }
        let known = ExternalBotConfiguration.knownCommands
        let commands = fields.optional("commands")?.list(of: "commands", fix: "write for example [send_message, react]")
        if let commands {
            program.commands = Set(
                commands.compactMap {
                    $0.word(
                        in: known, expected: "a daemon command",
                        fix: "write a command listed in docs/configuration.md, such as send_message")
                })
        }
        guard let groups = fields.optional("groups"), groups.node.scalar?.string != "all" else { return }
        let chats = groups.list(of: "chat ids, or all", fix: "write groups: all or groups: [CHATID]")
        program.groups = chats.map { Set($0.compactMap(chatID)) }
    }

    func environment(_ value: ConfigurationValue) -> [String: ExternalBotConfiguration.Variable] {
        let members = value.members(of: "variables and values", fix: "write for example environment: { MODE: quiet }")
        var environment: [String: ExternalBotConfiguration.Variable] = [:]
        for (name, value) in members ?? [] {
            let variable = name.parsed(
                variableName, expected: "the name of an environment variable", fix: "write for example MODE: quiet")
            let content = self.content(value)
            if let variable, let content { environment[variable] = content }
        }
        return environment
    }

    /// Parses a value that may be a secret.
    func content(_ value: ConfigurationValue) -> ExternalBotConfiguration.Variable? {
        let fix = "write a quoted string, or a reference such as { file: secrets/token }"
        if value.node.mapping != nil { return reference(value, fix: fix).map { .secret($0) } }
        return value.parsed({ $0 }, expected: "a string or a reference to a secret", fix: fix)
            .map { .text($0) }
    }
}

extension ExternalBotConfiguration {
    private static let interpreters: Set<String> = [
        "bash", "bun", "deno", "env", "java", "lua", "node", "perl", "php", "python", "ruby", "sh", "uv", "zsh",
    ]

    /// The index of the script of an interpreter; nil if the program is not an interpreter.
    var scriptIndex: Int? {
        guard let program = command.first, command.count > 1 else { return nil }
        let name = fileName(program).prefix { $0.isLetter }
        guard Self.interpreters.contains(String(name)) else { return nil }
        let index = command.dropFirst().firstIndex { $0 != "run" && !$0.hasPrefix("-") }
        return index
    }

    /// The name of the script or program without folder and extension, limited to the characters of names.
    var standardName: String {
        let file = fileName(command[scriptIndex ?? 0])
        let stem = file.lastIndex(of: ".").map { $0 == file.startIndex ? file[...] : file[..<$0] } ?? file[...]
        let letters = stem.lowercased().prefix(32).map { letter in
            letter.isASCII && (letter.isLetter || letter.isNumber || letter == "_") ? letter : "-"
        }
        return letters.isEmpty ? "program" : String(letters)
    }

    private func fileName(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }
}
