import BotKit
import Foundation
import Nostr

extension Configuration {
    /// Reads and checks a file.
    ///
    /// - Parameters:
    ///   - path: Paths in the file are relative to its folder.
    ///   - knownBots: Names that `use:` may have.
    /// - Throws: ``ConfigurationError`` with everything that is wrong.
    public static func load(
        path: String, knownBots: some Collection<String>
    ) throws(ConfigurationError) -> Configuration {
        let problems = ConfigurationProblems(file: path)
        guard let handle = FileHandle(forReadingAtPath: path),
            let data = try? handle.read(upToCount: ConfigurationDocument.maximumBytes + 1) ?? Data()
        else {
            problems.add(
                nil, "", expected: "a file that can be read", found: "none",
                fix: "check the path and its permissions")
            try problems.throwIfAny()
            preconditionFailure("a problem was noted")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            problems.add(nil, "", expected: "UTF-8 text", found: "other bytes", fix: "save the file as UTF-8")
            try problems.throwIfAny()
            preconditionFailure("a problem was noted")
        }
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return try parse(text, file: path, folder: folder.isEmpty ? "/" : folder, knownBots: knownBots)
    }

    /// Reads and checks the text of a file.
    ///
    /// - Parameters:
    ///   - file: The name that errors carry.
    ///   - folder: What relative paths are relative to.
    public static func parse(
        _ text: String, file: String, folder: String, knownBots: some Collection<String>
    ) throws(ConfigurationError) -> Configuration {
        let problems = ConfigurationProblems(file: file)
        let root = try ConfigurationDocument.read(text, problems)
        let parser = ConfigurationParser(folder: folder, knownBots: knownBots.sorted())
        let configuration = parser.configuration(root)
        try problems.throwIfAny()
        guard let configuration else { preconditionFailure("a configuration was refused without a reason") }
        return configuration
    }
}

/// Tree to types. Each method reads all of its part before it gives up on any of it.
struct ConfigurationParser {
    let folder: String
    let knownBots: [String]

    func configuration(_ root: ConfigurationValue) -> Configuration? {
        guard let fields = root.fields(["version", "relays", "state", "accounts", "media", "supervisor", "observe"])
        else {
            return nil
        }
        version(fields)
        let relays = fields.required("relays", example: "[wss://relay.example]").flatMap(relays)
        let state = fields.optional("state").map(stateDirectory) ?? resolved("state")
        let accounts = fields.required("accounts", example: "[ { name: …, key: … } ]").flatMap(accounts)
        let media = fields.optional("media").map(media) ?? MediaConfiguration()
        var supervisor = SupervisionConfiguration()
        if let value = fields.optional("supervisor") { read(value, into: &supervisor) }
        var observe = ObservationConfiguration()
        if let value = fields.optional("observe") { read(value, into: &observe) }
        guard let relays, let state, let accounts else { return nil }
        return Configuration(
            relays: relays, stateDirectory: state, accounts: accounts, media: media, supervisor: supervisor,
            observe: observe)
    }

    /// A path of the file, seen from the working directory.
    func resolved(_ path: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        let relative = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return folder == "/" ? "/" + relative : folder + "/" + relative
    }

    private func version(_ fields: ConfigurationFields) {
        let current = "\(Configuration.currentVersion)"
        guard let value = fields.required("version", example: current) else { return }
        _ = value.parsed(
            { $0 == current ? $0 : nil }, expected: "version \(current), the only one there is",
            fix: "write version: \(current)")
    }

    private func relays(_ value: ConfigurationValue) -> [RelayURL]? {
        let fix = "write relays: [wss://relay.example]"
        guard let items = value.list(of: "relay addresses", fix: fix) else { return nil }
        guard !items.isEmpty else {
            value.fail(expected: "at least one relay", found: "an empty list", fix: fix)
            return nil
        }
        var seen: Set<RelayURL> = []
        return items.compactMap { item in
            let relay = item.parsed(
                { try? RelayURL($0) }, expected: "a relay address",
                fix: "write a ws:// or wss:// address, such as wss://relay.example")
            guard let relay else { return nil }
            if !seen.insert(relay).inserted {
                item.fail(expected: "each relay once", fix: "remove one of the two")
            }
            return relay
        }
    }

    private func stateDirectory(_ value: ConfigurationValue) -> String? {
        value.fields(["directory"])?.required("directory", example: "./state")?
            .string(expected: "a path", fix: "write directory: ./state").map(resolved)
    }

    private func accounts(_ value: ConfigurationValue) -> [AccountConfiguration]? {
        let fix = "write accounts: and below it - name: …"
        guard let items = value.list(of: "accounts", fix: fix) else { return nil }
        guard !items.isEmpty else {
            value.fail(expected: "at least one account", found: "an empty list", fix: fix)
            return nil
        }
        var names: Set<String> = []
        return items.compactMap { account($0, &names) }
    }

    private func read(_ value: ConfigurationValue, into supervisor: inout SupervisionConfiguration) {
        guard let fields = value.fields(["restart", "drain"]) else { return }
        supervisor.drain = fields.optional("drain")?.duration() ?? supervisor.drain
        let restart = fields.optional("restart")?.fields(["strategy", "intensity", "period", "backoff"])
        guard let restart else { return }
        supervisor.strategy =
            restart.optional("strategy")?.choice(of: SupervisionConfiguration.Strategy.self) ?? supervisor.strategy
        supervisor.intensity = restart.optional("intensity")?.integer(in: 0...1000) ?? supervisor.intensity
        supervisor.period = restart.optional("period")?.duration() ?? supervisor.period
        let backoff = restart.optional("backoff")?.parsed(
            { durationRange(configurationText: $0).flatMap { $0.lowerBound > .zero ? $0 : nil } },
            expected: "a range of durations, the smaller first", fix: "write such as 1s..30s")
        supervisor.backoff = backoff ?? supervisor.backoff
    }

    private func read(_ value: ConfigurationValue, into observe: inout ObservationConfiguration) {
        guard let fields = value.fields(["listen", "logs", "level"]) else { return }
        observe.listen = fields.optional("listen")?.parsed(
            ListenAddress.init(configurationText:), expected: "HOST:PORT",
            fix: "write such as 127.0.0.1:9464 or [::1]:9464")
        observe.logs = fields.optional("logs")?.choice(of: ObservationConfiguration.LogFormat.self) ?? observe.logs
        observe.level = fields.optional("level")?.choice(of: ObservationConfiguration.LogLevel.self) ?? observe.level
    }
}
