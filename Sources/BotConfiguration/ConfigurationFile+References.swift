import BotKit
import Foundation

extension ConfigurationFile {
    /// Returns references of the file whose target is missing or unusable: files and programs of secrets, external
    /// bots, their folders and scripts. Runs nothing.
    ///
    /// Each problem prevents an account or a bot from starting. The result depends on the machine, not only on the
    /// file.
    package func missing(environment: [String: String]) -> [ConfigurationError.Problem] {
        var checker = ReferenceChecker(file: self, environment: environment)
        for account in configuration.accounts {
            let path = positions[account.name].map { "accounts[\($0)]" } ?? "accounts"
            checker.check(account.key, "\(path).key")
            for (index, feed) in account.feeds.enumerated() { checker.check(feed, "\(path).feeds[\(index)]") }
            for (index, bot) in account.bots.enumerated() { checker.check(bot, "\(path).bots[\(index)]") }
        }
        if let tls = configuration.observe.console?.tls { checker.check(tls, "observe.console.tls") }
        return checker.problems.isEmpty ? [] : ConfigurationError(problems: checker.problems).problems
    }

    /// Throws ``ConfigurationError`` with the problems of ``missing(environment:)``, if there are any.
    package func requireReferences(environment: [String: String]) throws(ConfigurationError) {
        let problems = missing(environment: environment)
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
    }

    fileprivate func place(_ keyPath: String) -> ConfigurationProblems.Place {
        ConfigurationProblems.nearestPlace(to: keyPath, in: places)
    }
}

/// Checks the references of a configuration.
private struct ReferenceChecker {
    let file: ConfigurationFile
    let environment: [String: String]
    var problems: [ConfigurationError.Problem] = []

    private mutating func add(_ keyPath: String, expected: String, found: String, fix: String) {
        let place = file.place(keyPath)
        problems.append(
            ConfigurationError.Problem(
                file: file.file, line: place.line, column: place.column, keyPath: keyPath, expected: expected,
                found: found, fix: fix))
    }

    mutating func check(_ tls: ConsoleConfiguration.Certificate, _ keyPath: String) {
        if !FileManager.default.isReadableFile(atPath: tls.certificate) {
            add(
                "\(keyPath).certificate", expected: "a readable file with the certificate",
                found: "none at \(tls.certificate)", fix: "put the certificate there, or correct the path")
        }
        // systemd protects its credentials by the permissions of their folder.
        let isCredential = environment["CREDENTIALS_DIRECTORY"].map { tls.key.hasPrefix($0 + "/") } ?? false
        check(secretFile: tls.key, isPrivate: !isCredential, "\(keyPath).key")
    }

    mutating func check(_ bot: BotConfiguration, _ keyPath: String) {
        switch bot.source {
        case .included(_, let settings): check(settings: settings, "\(keyPath).with")
        case .external(let program): check(program, keyPath)
        }
    }

    mutating func check(_ feed: FeedConfiguration, _ keyPath: String) {
        let path = "\(keyPath).\(feed.source.kind)"
        switch feed.source {
        case .webhook(let webhook):
            switch webhook.authentication {
            case .hmac(let keys):
                for (index, key) in keys.enumerated() { check(key, "\(path).authentication.hmac[\(index)]") }
            case .bearer(let token): check(token, "\(path).authentication.bearer")
            }
        case .webSocket(let socket): check(socket.headers, "\(path).headers")
        case .poll(let poll): check(poll.headers, "\(path).headers")
        case .sse(let stream): check(stream.headers, "\(path).headers")
        case .directory(let directory): check(directory: directory.path, "\(path).path")
        case .program(let program):
            let name = program.command[0]
            check(
                executable: name.contains("/") ? ConfigurationParser.resolve(name, in: program.directory) : name,
                "\(path).command")
            check(directory: program.directory, "\(path).directory")
            check(program.environment, "\(path).environment")
        }
    }

    private mutating func check(_ values: [String: FeedConfiguration.Variable], _ keyPath: String) {
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if case .secret(let reference) = value { check(reference, "\(keyPath).\(name)") }
        }
    }

    private mutating func check(directory path: String, _ keyPath: String) {
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        guard !exists || !isFolder.boolValue else { return }
        add(
            keyPath, expected: "a directory", found: exists ? "a file" : "none at \(path)",
            fix: "create the directory or correct the path")
    }

    private mutating func check(_ program: ExternalBotConfiguration, _ keyPath: String) {
        let name = program.command[0]
        check(
            executable: name.contains("/") ? ConfigurationParser.resolve(name, in: program.directory) : name,
            "\(keyPath).command")
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: program.directory, isDirectory: &isFolder)
        if !exists || !isFolder.boolValue {
            add(
                "\(keyPath).directory", expected: "a directory",
                found: exists ? "a file" : "none at \(program.directory)",
                fix: "create the directory or correct the path")
        } else if let index = program.scriptIndex {
            let script = ConfigurationParser.resolve(program.command[index], in: program.directory)
            // Words without a dot or a slash are not paths, but for example module names.
            let isPath = program.command[index].contains { $0 == "/" || $0 == "." }
            if isPath, !FileManager.default.fileExists(atPath: script) {
                add(
                    "\(keyPath).command[\(index)]", expected: "a script", found: "none at \(script)",
                    fix: "correct the path; it is relative to the bot's directory")
            }
        }
        for (name, variable) in program.environment.sorted(by: { $0.key < $1.key }) {
            if case .secret(let reference) = variable { check(reference, "\(keyPath).environment.\(name)") }
        }
    }

    /// Checks references in settings whose name suggests a secret; other references are left to the bot.
    private mutating func check(settings: BotSettings, _ keyPath: String) {
        switch settings {
        case .object(let members):
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                let path = "\(keyPath).\(name)"
                if SecretNames.suggestsSecret(name),
                    let reference = KeyReference(settings: value, folder: file.configuration.folder)
                {
                    check(reference, path)
                } else {
                    check(settings: value, path)
                }
            }
        case .array(let values):
            for (index, value) in values.enumerated() { check(settings: value, "\(keyPath)[\(index)]") }
        case .null, .bool, .int, .double, .string: break
        }
    }

    mutating func check(_ reference: KeyReference, _ keyPath: String) {
        switch reference {
        case .file(let path): check(secretFile: path, isPrivate: true, "\(keyPath).file")
        case .environment(let name):
            if environment[name] == nil {
                add(
                    "\(keyPath).env", expected: "a variable that is set", found: "none",
                    fix: "set \(name) where pikabot is started")
            }
        case .credential(let name):
            guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
                return add(
                    "\(keyPath).credential", expected: "credentials from systemd",
                    found: "none: CREDENTIALS_DIRECTORY is not set",
                    fix: "start under systemd with LoadCredential=\(name):PATH")
            }
            check(secretFile: "\(folder)/\(name)", isPrivate: false, "\(keyPath).credential")
        case .command(let words): check(executable: words[0], "\(keyPath).command")
        case .encrypted(let key, let password):
            check(key, "\(keyPath).ncryptsec")
            check(password, "\(keyPath).password")
        case .bunker(let address): check(address, "\(keyPath).bunker")
        }
    }

    private mutating func check(executable program: String, _ keyPath: String) {
        guard KeyReference.executablePath(program, environment) == nil else { return }
        let exists = program.contains("/") && FileManager.default.fileExists(atPath: program)
        add(
            keyPath, expected: "an executable program",
            found: exists ? "\(program), which is not executable" : "none: \(program)",
            fix: exists
                ? "run: chmod +x \(program)"
                : program.contains("/") ? "correct the path" : "install it, or add it to PATH")
    }

    private mutating func check(secretFile path: String, isPrivate: Bool, _ keyPath: String) {
        do { _ = try ProtectedFile.read(path, isPrivate: isPrivate) } catch {
            let fix =
                switch error.code {
                case .permissions: error.message.split(separator: "; ").last.map(String.init) ?? "change its mode"
                default: "put the secret there, or correct the path"
                }
            let reason = error.message.split(separator: "; ").first.map(String.init) ?? error.message
            add(keyPath, expected: "a file with the secret", found: reason, fix: fix)
        }
    }
}
