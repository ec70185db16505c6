import BotDispatch
import PikaCore
import Yams

extension ConfigurationParser {
    /// Parses the policy, which both kinds of bots share. Reports invalid parts as problems and keeps their defaults.
    func policy(_ fields: ConfigurationFields) -> BotPolicy {
        var policy = BotPolicy()
        if let groups = fields.optional("groups").flatMap(groups) { policy.groups = groups }
        if let triggers = fields.optional("triggers").flatMap(triggers) { policy.triggers = triggers }
        if let limits = fields.optional("limits").flatMap(limits) { policy.limits = limits }
        policy.timeout = fields.optional("timeout")?.duration(upTo: .seconds(3600)) ?? policy.timeout
        return policy
    }

    private func groups(_ value: ConfigurationValue) -> GroupPolicy? {
        guard let fields = value.fields(ConfigurationSchema.groups) else { return nil }
        var groups = GroupPolicy()
        groups.standard = fields.optional("default")?.choice(of: GroupPolicy.Scope.self) ?? groups.standard
        let chats = fields.optional("chats")?
            .members(of: "chat ids and scopes", fix: "write for example chats: { CHATID: all }")
        for (name, value) in chats ?? [] {
            guard let scope = value.choice(of: GroupPolicy.Scope.self), let chat = chatID(name) else { continue }
            if groups.exceptions.updateValue(scope, forKey: chat) != nil {
                name.fail(
                    expected: "each chat once", found: "a duplicate that differs only in case",
                    fix: "remove one of the two")
            }
        }
        return groups
    }

    func chatID(_ value: ConfigurationValue) -> ChatID? {
        value.parsed(
            { ChatID(reference: $0) }, expected: "a chat id",
            fix: "write its hex digits, as shown by pikabot groups")
    }

    private func triggers(_ value: ConfigurationValue) -> TriggerPolicy? {
        guard value.node.mapping != nil else {
            let words = ["members": TriggerPolicy.members, "admins": .admins, "nobody": .nobody]
            return value.word(
                in: words.keys.sorted(), expected: "members, admins, nobody or { allow: [npub1…] }",
                fix: "write one of them"
            ).flatMap { words[$0] }
        }
        return value.fields(ConfigurationSchema.triggers)?.required("allow")
            .flatMap { somePublicKeys($0, fix: "write allow: [npub1…]") }.map { .allowlist($0) }
    }

    private func limits(_ value: ConfigurationValue) -> BotLimits? {
        guard let fields = value.fields(ConfigurationSchema.limits) else { return nil }
        var limits = BotLimits()
        if let rate = fields.optional("perSender")?.rate() { limits.perSender = rate.value }
        if let rate = fields.optional("perGroup")?.rate() { limits.perGroup = rate.value }
        limits.botPair = fields.optional("botPair")?.integer(in: 0...1_000_000) ?? limits.botPair
        return limits
    }
}
