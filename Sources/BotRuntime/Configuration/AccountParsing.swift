import BotKit
import Nostr
import PikaCore
import Yams

extension ConfigurationParser {
    func account(_ value: ConfigurationValue, _ names: inout Set<String>) -> AccountConfiguration? {
        guard let fields = value.fields(["name", "key", "invites", "selfUpdate", "retention", "profiles", "bots"])
        else {
            return nil
        }
        let name = fields.required("name", example: "greeter").flatMap { accountName($0, &names) }
        let key = fields.required("key", example: "{ file: secrets/account.nsec }").flatMap(key)
        let invites = fields.optional("invites").map(invites) ?? .nobody
        let selfUpdate = fields.optional("selfUpdate").map(selfUpdate) ?? .standard
        let retention = fields.optional("retention").map(retention) ?? .standard
        let profiles = fields.optional("profiles").map(profiles) ?? false
        let bots = fields.optional("bots").map(bots) ?? []
        guard let name, let key, let invites, let selfUpdate, let retention, let profiles, let bots else {
            return nil
        }
        return AccountConfiguration(
            name: name, key: key, invites: invites, selfUpdate: selfUpdate, retention: retention, profiles: profiles,
            bots: bots)
    }

    private func profiles(_ value: ConfigurationValue) -> Bool? {
        value.parsed(
            { ["true": true, "false": false][$0] }, expected: "true or false",
            fix: "write true only if the bots need the names of members: relays learn who they are")
    }

    private func accountName(_ value: ConfigurationValue, _ names: inout Set<String>) -> String? {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        let name = value.parsed(
            { (1...32).contains($0.count) && $0.allSatisfy(letters.contains) ? $0 : nil },
            expected: "1 to 32 of a-z, 0-9 and -", fix: "write such as name: greeter")
        guard let name else { return nil }
        if !names.insert(name).inserted {
            value.fail(expected: "a name that no other account has", fix: "rename one of the two")
        }
        return name
    }

    /// A reference to the key itself, or through `bunker` to the address of whoever keeps it.
    private func key(_ value: ConfigurationValue) -> KeyReference? {
        let keys = value.node.mapping?.keys.compactMap(\.string) ?? []
        if keys.contains("bunker") { return bunker(value) }
        guard keys.contains("ncryptsec") || keys.contains("password") else {
            return reference(value, fix: "write such as key: { file: secrets/account.nsec }")
        }
        let example = "{ file: secrets/account.ncryptsec }"
        guard let fields = value.fields(["ncryptsec", "password"]) else { return nil }
        let key = fields.required("ncryptsec", example: example)
            .flatMap { reference($0, fix: "write such as ncryptsec: \(example)") }
        let password = fields.required("password", example: "{ credential: password }")
            .flatMap { reference($0, fix: "write such as password: { credential: password }") }
        guard let key, let password else { return nil }
        return .encrypted(key, password: password)
    }

    /// Where the address of whoever keeps the key is kept: it holds a secret.
    private func bunker(_ value: ConfigurationValue) -> KeyReference? {
        let example = "{ file: secrets/bunker.url }"
        guard let fields = value.fields(["bunker"]) else { return nil }
        return fields.required("bunker", example: example)
            .flatMap { reference($0, fix: "write such as key: { bunker: \(example) }") }.map { .bunker($0) }
    }

    /// Where a secret is kept, never the secret itself.
    private func reference(_ value: ConfigurationValue, fix example: String) -> KeyReference? {
        let kinds = ["file", "env", "credential", "command"]
        guard value.node.mapping != nil else {
            // Whatever stands here may be a secret in some form: it is never shown.
            value.fail(
                expected: "a reference with \(oneOf(kinds))",
                found: value.shown == "nothing" ? "nothing" : "a value (not shown)", fix: example)
            return nil
        }
        guard let fields = value.fields(kinds) else { return nil }
        let present = kinds.filter(fields.keys.contains)
        guard present.count == 1, let kind = present.first, let source = fields.optional(kind) else {
            // A key that is none of them has been complained about already.
            if !present.isEmpty || fields.keys.isEmpty {
                let found = present.isEmpty ? "none of them" : present.joined(separator: " and ")
                value.fail(expected: "exactly \(oneOf(kinds))", found: found, fix: example)
            }
            return nil
        }
        switch kind {
        case "file":
            return source.string(expected: "a path", fix: example).map { .file(resolved($0)) }
        case "env":
            return source.parsed(
                environmentName, expected: "the name of an environment variable",
                fix: "write such as env: GREETER_KEY"
            ).map { .environment($0) }
        case "credential":
            return source.parsed(
                credentialName, expected: "the name of a systemd credential",
                fix: "write such as credential: greeter.nsec"
            ).map { .credential($0) }
        default:
            return command(source).map { .command($0) }
        }
    }

    private func environmentName(_ text: String) -> String? {
        let isName = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isName && text.first?.isNumber == false ? text : nil
    }

    private func credentialName(_ text: String) -> String? {
        !text.isEmpty && !text.contains("/") && text != "." && text != ".." ? text : nil
    }

    private func command(_ value: ConfigurationValue) -> [String]? {
        let fix = "write such as command: [pass, show, greeter]"
        guard let items = value.list(of: "a program and its arguments", fix: fix) else { return nil }
        guard !items.isEmpty else {
            value.fail(expected: "a program and its arguments", found: "an empty list", fix: fix)
            return nil
        }
        var words = items.compactMap { $0.parsed({ $0 }, expected: "a word", fix: fix) }
        guard words.count == items.count else { return nil }
        guard !words[0].isEmpty else {
            items[0].fail(expected: "a program", found: "nothing", fix: fix)
            return nil
        }
        if words[0].contains("/") { words[0] = resolved(words[0]) }
        return words
    }

    private func invites(_ value: ConfigurationValue) -> InvitePolicy? {
        enum Accept: String, CaseIterable { case anyone, nobody, allowlist }
        guard let fields = value.fields(["accept", "from"]) else { return nil }
        let accept = fields.required("accept", example: "allowlist").flatMap { $0.choice(of: Accept.self) }
        let from = fields.optional("from")
        let keys = from.flatMap(publicKeys)
        switch accept {
        case .allowlist:
            guard from != nil else {
                value.fail(expected: "the key from", found: "none", fix: "add from: [npub1…]")
                return nil
            }
            return keys.map { .allowlist($0) }
        case .anyone, .nobody:
            from?.fail(
                expected: "no list unless accept is allowlist", found: "one",
                fix: "remove from or write accept: allowlist")
            return accept == .anyone ? .anyone : .nobody
        case nil:
            return nil
        }
    }

    /// A value, or the word never in its place.
    enum Setting<Value> {
        case never
        case value(Value)

        var value: Value? { if case .value(let value) = self { value } else { nil } }
    }

    private func selfUpdate(_ value: ConfigurationValue) -> SelfUpdatePolicy? {
        guard let fields = value.fields(["afterJoining", "every"]) else { return nil }
        var policy = SelfUpdatePolicy.standard
        let after = fields.optional("afterJoining")?.parsed(
            { text -> Setting<ClosedRange<Duration>>? in
                text == "never" ? .never : durationRange(configurationText: text).map { .value($0) }
            }, expected: "a range of durations, the smaller first, or never", fix: "write such as 5s..60s")
        if let after { policy.afterJoining = after.value }
        let every = fields.optional("every")?.parsed(
            { text -> Setting<Duration>? in
                if text == "never" { return .never }
                return Duration(configurationText: text).flatMap { $0 >= .seconds(3600) ? .value($0) : nil }
            }, expected: "a duration of an hour or more, or never", fix: "write such as 7d")
        if let every { policy.every = every.value }
        return policy
    }

    private func publicKeys(_ value: ConfigurationValue) -> Set<PublicKey>? {
        let fix = "write from: [npub1…]"
        guard let items = value.list(of: "public keys", fix: fix) else { return nil }
        guard !items.isEmpty else {
            value.fail(expected: "at least one public key", found: "an empty list", fix: fix)
            return nil
        }
        return Set(
            items.compactMap {
                $0.parsed(
                    { try? PublicKey(parsing: $0) }, expected: "a public key",
                    fix: "write an npub1… or 64 hex digits, as the account's owner gives it")
            })
    }
}
