import BotDispatch
import BotKit
import Nostr
import PikaCore
import ProcessSupport
import Yams

extension ConfigurationParser {
    func account(_ value: ConfigurationValue, _ names: inout Set<String>) -> AccountConfiguration? {
        guard let fields = value.fields(ConfigurationSchema.account) else { return nil }
        let name = fields.required("name").flatMap { accountName($0, &names) }
        let key = fields.required("key").flatMap(key)
        let invites =
            fields.optional("invites").map(invites) ?? (policy: .nobody, limit: .value(Self.standardInviteLimit))
        let operators = fields.optional("operators").map { publicKeys($0, fix: "write operators: [npub1…]") } ?? []
        let restart = fields.optional("restart").map { $0.choice(of: RestartKind.self) } ?? .permanent
        let selfUpdate = fields.optional("selfUpdate").map(selfUpdate) ?? .standard
        let retention = fields.optional("retention").map(retention) ?? .standard
        let profiles = fields.optional("profiles").map(profiles) ?? true
        let onRollbackStorm =
            fields.optional("onRollbackStorm").map { $0.choice(of: RollbackStormPolicy.self) } ?? .report
        let groupProtocol = fields.optional("protocol").map { $0.choice(of: GroupProtocol.self) } ?? .auto
        let webhooks = fields.optional("webhooks").map(webhookAddress) ?? AccountConfiguration.standardWebhooks
        let feeds = fields.optional("feeds").map(feeds) ?? []
        let bots = fields.optional("bots").map(bots) ?? []
        guard let name, let key, let invites, let operators, let restart, let selfUpdate, let retention, let profiles,
            let onRollbackStorm, let groupProtocol, let webhooks, let feeds, let bots
        else { return nil }
        return AccountConfiguration(
            name: name, key: key, invites: invites.policy, inviteLimit: invites.limit.value, operators: operators,
            restart: restart, selfUpdate: selfUpdate, retention: retention, profiles: profiles,
            onRollbackStorm: onRollbackStorm, groupProtocol: groupProtocol, webhooks: webhooks,
            feeds: feeds, bots: bots)
    }

    private static let standardInviteLimit = Rate(30, per: .hour)

    private func profiles(_ value: ConfigurationValue) -> Bool? {
        value.parsed(
            { ["true": true, "false": false][$0] }, expected: "true or false",
            fix: "write false if relays must not learn who shares groups with the account")
    }

    private func accountName(_ value: ConfigurationValue, _ names: inout Set<String>) -> String? {
        let letters = Set("abcdefghijklmnopqrstuvwxyz0123456789-")
        let name = value.parsed(
            { (1...32).contains($0.count) && $0.allSatisfy(letters.contains) ? $0 : nil },
            expected: "1 to 32 characters from a-z, 0-9 and -", fix: "write for example name: greeter")
        guard let name else { return nil }
        if !names.insert(name).inserted {
            value.fail(expected: "a name that no other account has", fix: "rename one of the two")
        }
        return name
    }

    private func invites(_ value: ConfigurationValue) -> (policy: InvitePolicy, limit: Setting<Rate>)? {
        guard let fields = value.fields(ConfigurationSchema.invites) else { return nil }
        let limit = fields.optional("perInviter").map { $0.rate() } ?? .value(Self.standardInviteLimit)
        guard let policy = invitePolicy(value, fields), let limit else { return nil }
        return (policy, limit)
    }

    private func invitePolicy(_ value: ConfigurationValue, _ fields: ConfigurationFields) -> InvitePolicy? {
        enum Accept: String, CaseIterable { case anyone, nobody, allowlist }
        let accept = fields.required("accept").flatMap { $0.choice(of: Accept.self) }
        let from = fields.optional("from")
        let keys = from.flatMap { somePublicKeys($0, fix: "write from: [npub1…]") }
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

    private func selfUpdate(_ value: ConfigurationValue) -> SelfUpdatePolicy? {
        guard let fields = value.fields(ConfigurationSchema.selfUpdate) else { return nil }
        var policy = SelfUpdatePolicy.standard
        let after = fields.optional("afterJoining")?.parsed(
            { text -> Setting<ClosedRange<Duration>>? in
                text == "never" ? .never : durationRange(configurationText: text).map { .value($0) }
            }, expected: "a range of durations, the smaller first, or never", fix: "write for example 5s..60s")
        if let after { policy.afterJoining = after.value }
        let every = fields.optional("every")?.longDuration(or: "never", example: "7d")
        if let every { policy.every = every.value }
        return policy
    }

    /// Parses a list of public keys with at least one element.
    func somePublicKeys(_ value: ConfigurationValue, fix: String) -> Set<PublicKey>? {
        publicKeys(value, atLeast: "at least one public key", fix: fix)
    }

    func publicKeys(_ value: ConfigurationValue, atLeast some: String? = nil, fix: String) -> Set<PublicKey>? {
        guard let items = value.list(of: "public keys", atLeast: some, fix: fix) else { return nil }
        return Set(
            items.compactMap {
                $0.parsed(
                    { try? PublicKey(parsing: $0) }, expected: "a public key",
                    fix: "write an npub1… or 64 hex digits, as the account's owner gives it")
            })
    }
}
