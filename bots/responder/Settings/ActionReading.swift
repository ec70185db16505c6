import BotKit

extension Action {
    private static let keys = ["reply", "send", "react", "media", "webhook", "run", "exec", "agent"]

    /// Parses the actions of a rule: one beside `when:`, or a list under `do:`.
    static func readAll(_ rule: SettingsReader, _ scope: TextScope?, _ defaults: RuleDefaults) -> [Action] {
        let beside = keys.filter(rule.has)
        guard rule.has("do") else {
            guard beside.count == 1 else {
                for key in keys + ["do"] { _ = rule.value(key) }
                rule.fail(
                    nil, expected: "one action", found: beside.isEmpty ? "none" : beside.joined(separator: ", "),
                    fix: beside.isEmpty
                        ? "add one of \(keys.joined(separator: ", ")), or do: [ … ]"
                        : "put them in order under do: [ { \(beside[0]): … }, { \(beside[1]): … } ]")
                return []
            }
            return read(beside[0], rule, scope, defaults).map { [$0] } ?? []
        }
        for key in beside {
            _ = rule.value(key)
            rule.fail(key, expected: "do: without other actions", fix: "move it into the list under do:")
        }
        let actions = rule.list("do", required: true) { (reader: SettingsReader) -> Action? in
            let named = keys.filter(reader.has)
            guard named.count == 1 else {
                for key in keys { _ = reader.value(key) }
                reader.fail(
                    nil, expected: "one action", found: named.isEmpty ? "none" : named.joined(separator: ", "),
                    fix: "write each action as a separate list element, such as { reply: TEXT }")
                return nil
            }
            return read(named[0], reader, scope, defaults)
        }
        if let list = rule.value("do")?.arrayValue, list.isEmpty {
            rule.fail("do", expected: "at least one action", found: "an empty list", fix: "add { reply: TEXT }")
        }
        return actions
    }

    private static func read(
        _ key: String, _ reader: SettingsReader, _ scope: TextScope?, _ defaults: RuleDefaults
    ) -> Action? {
        switch key {
        case "reply": reader.templates(key, scope).map { .reply($0) }
        case "send": reader.sending(key, scope)
        case "react": reader.reactions(key, scope).map { .react($0) }
        case "media": reader.media(key, scope).map { .media($0) }
        case "webhook": reader.webhook(key, scope, defaults).map { .webhook($0) }
        case "agent": reader.agent(key, scope, defaults).map { .agent($0) }
        default: reader.program(key, scope).map { .program($0) }
        }
    }
}

extension SettingsReader {
    /// Parses a text, a list of texts, or `{ text: …, to: [CHATID] }`.
    fileprivate func sending(_ key: String, _ scope: TextScope?) -> Action? {
        guard case .object? = value(key) else { return templates(key, scope).map { .send($0, to: []) } }
        guard let reader = object(key) else { return nil }
        let texts = reader.templates("text", scope)
        if texts == nil, !reader.has("text") { _ = reader.string("text", required: true) }
        let chats = reader.chatIDs("to") ?? []
        return texts.map { .send($0, to: chats) }
    }

    fileprivate func reactions(_ key: String, _ scope: TextScope?) -> [String]? {
        if scope?.hasMessage == false {
            fail(key, expected: "a trigger with a message to react to", fix: "remove it, or write send: TEXT")
        }
        let emojis = value(key)?.arrayValue != nil ? strings(key) : string(key).map { [$0] }
        guard let emojis, !emojis.isEmpty, emojis.allSatisfy({ (1...64).contains($0.utf8.count) }) else {
            fail(key, expected: "an emoji, or a list of them", fix: "write \(key): 👍")
            return nil
        }
        return emojis
    }

    fileprivate func media(_ key: String, _ scope: TextScope?) -> MediaAction? {
        guard let reader = object(key) else { return nil }
        let file = reader.string("file", required: true)
        let caption = reader.template("caption", scope)
        let type = reader.parsed("type", expected: "a media type", fix: "write one such as image/png") { value in
            value.stringValue.flatMap { $0.split(separator: "/").count == 2 && !$0.contains(" ") ? $0 : nil }
        }
        let name = reader.string("name")
        guard let file else { return nil }
        let last = file.split(separator: "/").last.map(String.init) ?? file
        return MediaAction(
            file: file, name: name ?? last, type: type ?? MediaAction.type(ofFile: last), caption: caption)
    }

    /// Parses `{ command: […], timeout: 10s, environment: { … }, answer: reply }`.
    fileprivate func program(_ key: String, _ scope: TextScope?) -> ProgramAction? {
        guard let reader = object(key) else { return nil }
        let command = reader.strings("command", required: true)
        let environment = reader.settingTexts("environment")
        let timeout = reader.duration("timeout", default: .seconds(10))
        let use = reader.answerUse("answer", scope)
        if command?.isEmpty == true {
            reader.fail(
                "command", expected: "a program and its arguments", found: "an empty list",
                fix: "write [program, argument]")
        }
        guard let command, !command.isEmpty else { return nil }
        return ProgramAction(command: command, environment: environment, timeout: timeout, use: use)
    }

    func answerUse(_ key: String, _ scope: TextScope?) -> AnswerUse {
        choice(key, default: scope?.hasMessage == false ? AnswerUse.send : .reply)
    }

    /// Parses values that are strings or references to secrets.
    func settingTexts(_ key: String) -> [String: SettingText] {
        guard has(key), let reader = object(key) else { return [:] }
        var texts: [String: SettingText] = [:]
        for name in reader.keys { texts[name] = reader.settingText(name) }
        return texts
    }

    func settingText(_ key: String) -> SettingText? {
        guard let value = value(key) else { return nil }
        if case .object = value { return secret(key) }
        return string(key).map { .plain($0) }
    }

    /// Parses `{ file: PATH }`, `{ env: NAME }`, `{ credential: NAME }` or `{ command: […] }`.
    func secret(_ key: String) -> SettingText? {
        let kinds = ["file", "env", "credential", "command"]
        return parsed(
            key, expected: "a reference to a secret",
            fix: "write { file: PATH }, { env: NAME }, { credential: NAME } or { command: [program, argument] }"
        ) { value in
            guard case .object(let members) = value, members.count == 1, let (kind, place) = members.first,
                kinds.contains(kind)
            else { return nil }
            let isPlace = kind == "command" ? place.arrayValue?.isEmpty == false : place.stringValue?.isEmpty == false
            return isPlace ? .secret(value) : nil
        }
    }
}

extension MediaAction {
    private static let types = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "mp4": "video/mp4", "webm": "video/webm", "mp3": "audio/mpeg", "ogg": "audio/ogg", "m4a": "audio/mp4",
        "pdf": "application/pdf", "txt": "text/plain",
    ]

    /// Returns the media type for a file name extension.
    static func type(ofFile name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return "application/octet-stream" }
        return types[name[dot...].dropFirst().lowercased()] ?? "application/octet-stream"
    }
}
