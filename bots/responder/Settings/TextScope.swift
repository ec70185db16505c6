import BotKit

/// The placeholders that are available to a text of a rule.
struct TextScope {
    let placeholders: Set<Placeholder>
    let pieces: Int
    let hasMessage: Bool
    let isSchedule: Bool

    init(trigger: Trigger) {
        placeholders = trigger.placeholders
        pieces = trigger.pieces
        hasMessage = trigger.hasMessage
        isSchedule = if case .schedule = trigger { true } else { false }
    }

    fileprivate func has(_ placeholder: Placeholder) -> Bool {
        if case .piece(let number) = placeholder { return number <= pieces }
        return placeholders.contains(placeholder)
    }

    fileprivate var names: [String] {
        Placeholder.names.filter { Placeholder($0).map(has) ?? false } + (pieces > 0 ? ["1"] : [])
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
            fail(key, expected: "a text, or a list of texts", found: "an empty list", fix: "write \(key): TEXT")
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
                key, expected: "placeholders of \(scope.names.map { "{\($0)}" }.joined(separator: ", "))",
                found: "{\(wrong.name)}", fix: "this kind of event has none; remove it")
        } catch {
            fail(key, mistake: error)
        }
        return nil
    }

    private func fail(_ key: String, mistake: Template.Mistake) {
        switch mistake {
        case .open: fail(key, expected: "a } after each {", fix: "close it, or write {{ for a brace")
        case .closed: fail(key, expected: "a { before each }", fix: "open it, or write }} for a brace")
        case .unknown(let name):
            let known = Placeholder.names + ["1"]
            let nearest = nearestName(to: name, in: known)
            fail(
                key, expected: "placeholders of \(known.map { "{\($0)}" }.joined(separator: ", "))",
                found: "{\(name)}", fix: nearest.map { "write {\($0)}" } ?? "remove it, or write {{ for a brace")
        }
    }
}
