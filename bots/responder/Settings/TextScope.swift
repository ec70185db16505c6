import BotKit

/// The placeholders that are available to a text of a rule.
struct TextScope {
    let placeholders: Set<Placeholder>
    let positionalCount: Int
    let hasMessage: Bool
    /// Whether the event may be a JSON document with members.
    let hasMembers: Bool

    init(trigger: Trigger) {
        placeholders = trigger.placeholders
        positionalCount = trigger.positionalCount
        hasMessage = trigger.hasMessage
        hasMembers = if case .feed = trigger { true } else { false }
    }

    fileprivate func has(_ placeholder: Placeholder) -> Bool {
        if case .positional(let number) = placeholder { return number <= positionalCount }
        if case .member = placeholder { return hasMembers }
        return placeholders.contains(placeholder)
    }

    fileprivate var names: [String] {
        Placeholder.names.filter { Placeholder($0).map(has) ?? false } + (positionalCount > 0 ? ["1"] : [])
            + (hasMembers ? ["item.NAME"] : [])
    }
}

extension SettingsReader {
    /// Parses a template. The scope is nil if the trigger is invalid: then any placeholder is accepted.
    func template(_ key: String, _ scope: TextScope?, required: Bool = false) -> Template? {
        guard let text = string(key, required: required) else { return nil }
        return template(text, key, scope)
    }

    /// Parses a template, or a list of them.
    func templates(_ key: String, _ scope: TextScope?) -> [Template]? {
        guard let value = value(key) else { return nil }
        guard value.arrayValue != nil else { return template(key, scope).map { [$0] } }
        guard let texts = strings(key) else { return nil }
        guard !texts.isEmpty else {
            fail(key, expected: "a string or a list of strings", found: "an empty list", fix: "write \(key): TEXT")
            return nil
        }
        let templates = texts.compactMap { template($0, key, scope) }
        return templates.count == texts.count ? templates : nil
    }

    func template(_ text: String, _ key: String, _ scope: TextScope?) -> Template? {
        do {
            let template = try Template(text)
            guard let scope, let wrong = template.placeholders.first(where: { !scope.has($0) }) else { return template }
            fail(
                key, expected: "one of the placeholders \(scope.names.map { "{\($0)}" }.joined(separator: ", "))",
                found: "{\(wrong.name)}", fix: "remove it: this trigger does not provide it")
        } catch {
            fail(key, error)
        }
        return nil
    }

    private func fail(_ key: String, _ error: Template.SyntaxError) {
        switch error {
        case .unclosedBrace: fail(key, expected: "a } after each {", fix: "close it, or write {{ for a brace")
        case .unopenedBrace: fail(key, expected: "a { before each }", fix: "open it, or write }} for a brace")
        case .unknown(let name):
            let known = Placeholder.names + ["1"]
            let nearest = nearestName(to: name, in: known)
            fail(
                key, expected: "one of the placeholders \(known.map { "{\($0)}" }.joined(separator: ", "))",
                found: "{\(name)}", fix: nearest.map { "write {\($0)}" } ?? "remove it, or write {{ for a brace")
        }
    }
}
