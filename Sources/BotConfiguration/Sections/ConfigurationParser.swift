import BotKit
import Nostr
import Yams

/// The values of `relays: { private: … }`.
private enum PrivateAddresses: String, CaseIterable {
    case refuse, allow
}

/// Converts the YAML tree to types. Each method parses all of its part, so that it reports every problem.
struct ConfigurationParser {
    let folder: String
    let known: KnownBots

    func configuration(_ root: ConfigurationValue) -> Configuration? {
        guard let fields = root.fields(ConfigurationSchema.root) else { return nil }
        version(fields)
        let relays = fields.required("relays").flatMap(relays)
        let allowsPrivate = fields.optional("relays").map(allowsPrivateAddresses) ?? false
        let state = fields.optional("state").map(stateDirectory) ?? resolved("state")
        let accounts = fields.required("accounts").flatMap(accounts)
        let media = fields.optional("media").map(media) ?? MediaConfiguration()
        let databases = fields.optional("databases").map(databases) ?? DatabaseConfiguration()
        let calls = fields.optional("calls").map(calls) ?? CallConfiguration()
        var supervisor = SupervisionConfiguration()
        if let value = fields.optional("supervisor") { read(value, into: &supervisor) }
        var observe = ObservationConfiguration()
        if let value = fields.optional("observe") { read(value, into: &observe) }
        guard let relays, let state, let accounts else { return nil }
        return Configuration(
            folder: folder, relays: relays, allowsPrivateAddresses: allowsPrivate, stateDirectory: state,
            accounts: accounts, media: media,
            databases: databases, calls: calls, supervisor: supervisor, observe: observe)
    }

    /// Resolves a path of the file against its folder.
    func resolved(_ path: String) -> String { Self.resolve(path, in: folder) }

    static func resolve(_ path: String, in folder: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        guard path != ".", path != "./" else { return folder }
        let relative = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
        return folder == "/" ? "/" + relative : folder + "/" + relative
    }

    private func version(_ fields: ConfigurationFields) {
        let current = "\(Configuration.currentVersion)"
        guard let value = fields.required("version") else { return }
        _ = value.parsed(
            { $0 == current ? $0 : nil }, expected: "version \(current), the only supported one",
            fix: "write version: \(current)")
    }

    /// Parses a list of relay URLs, or a mapping with such a list.
    private func relays(_ value: ConfigurationValue) -> [RelayURL]? {
        guard case .mapping = value.node else { return urls(value, fix: "write relays: [wss://relay.example]") }
        return value.fields(ConfigurationSchema.relays)?.required("urls")
            .flatMap { urls($0, fix: "write urls: [wss://relay.example]") }
    }

    /// Parses the option; ``relays(_:)`` has checked the mapping's keys.
    private func allowsPrivateAddresses(_ value: ConfigurationValue) -> Bool {
        guard case .mapping(let mapping) = value.node,
            let node = mapping.first(where: { $0.key.string == "private" })?.value
        else { return false }
        let field = ConfigurationValue(node: node, keyPath: "\(value.keyPath).private", problems: value.problems)
        return field.choice(of: PrivateAddresses.self) == .allow
    }

    private func urls(_ value: ConfigurationValue, fix: String) -> [RelayURL]? {
        guard let items = value.list(of: "relay addresses", atLeast: "at least one relay", fix: fix) else { return nil }
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
        value.fields(ConfigurationSchema.state)?.required("directory")?
            .string(expected: "a path", fix: "write directory: ./state").map(resolved)
    }

    private func accounts(_ value: ConfigurationValue) -> [AccountConfiguration]? {
        let fix = "write accounts: and below it - name: …"
        guard let items = value.list(of: "accounts", atLeast: "at least one account", fix: fix) else { return nil }
        var names: Set<String> = []
        return items.compactMap { account($0, &names) }
    }
}
