import Yams

extension ConfigurationParser {
    /// Parses a reference to the key itself or, under `bunker`, to the URL of a remote signer.
    func key(_ value: ConfigurationValue) -> KeyReference? {
        let keys = value.node.mapping?.keys.compactMap(\.string) ?? []
        if keys.contains("bunker") { return bunker(value) }
        guard keys.contains("ncryptsec") || keys.contains("password") else {
            return reference(value, fix: "write for example key: { file: secrets/account.nsec }")
        }
        guard let fields = value.fields(ConfigurationSchema.encryptedKey) else { return nil }
        let key = fields.required("ncryptsec")
            .flatMap { reference($0, fix: "write for example ncryptsec: { file: secrets/account.ncryptsec }") }
        let password = fields.required("password")
            .flatMap { reference($0, fix: "write for example password: { credential: password }") }
        guard let key, let password else { return nil }
        return .encrypted(key, password: password)
    }

    /// Parses a reference to the URL of a remote signer, which contains a secret.
    private func bunker(_ value: ConfigurationValue) -> KeyReference? {
        guard let fields = value.fields(ConfigurationSchema.bunker) else { return nil }
        return fields.required("bunker")
            .flatMap { reference($0, fix: "write for example key: { bunker: { file: secrets/bunker.url } }") }
            .map { .bunker($0) }
    }

    /// Parses a reference to a secret.
    func reference(_ value: ConfigurationValue, fix example: String) -> KeyReference? {
        let kinds = ConfigurationSchema.secret.names
        guard value.node.mapping != nil else {
            // The value may be a secret in some form, so it is never shown.
            value.fail(
                expected: "a reference with \(oneOf(kinds))",
                found: value.shown == "nothing" ? "nothing" : "a value (not shown)", fix: example)
            return nil
        }
        guard let fields = value.fields(ConfigurationSchema.secret) else { return nil }
        let present = kinds.filter(fields.keys.contains)
        guard present.count == 1, let kind = present.first, let source = fields.optional(kind) else {
            // An unknown key has been reported already.
            if !present.isEmpty || fields.keys.isEmpty {
                let found = present.isEmpty ? "none of them" : present.joined(separator: " and ")
                value.fail(expected: "exactly \(oneOf(kinds))", found: found, fix: example)
            }
            return nil
        }
        return reference(kind: kind, source, fix: example)
    }

    private func reference(kind: String, _ source: ConfigurationValue, fix example: String) -> KeyReference? {
        switch kind {
        case "file":
            return source.string(expected: "a path", fix: example).map { .file(resolved($0)) }
        case "env":
            return source.parsed(
                variableName, expected: "the name of an environment variable",
                fix: "write for example env: GREETER_KEY"
            ).map { .environment($0) }
        case "credential":
            return source.parsed(
                credentialName, expected: "the name of a systemd credential",
                fix: "write for example credential: greeter.nsec"
            ).map { .credential($0) }
        default:
            let words = words(source, fix: "write for example command: [pass, show, greeter]")
            return words.map { .command([$0[0].contains("/") ? resolved($0[0]) : $0[0]] + $0.dropFirst()) }
        }
    }

    private func credentialName(_ text: String) -> String? {
        !text.isEmpty && !text.contains("/") && text != "." && text != ".." ? text : nil
    }

    /// Parses a program and its arguments literally.
    func words(_ value: ConfigurationValue, fix: String) -> [String]? {
        let whole = "a program and its arguments"
        guard let items = value.list(of: whole, atLeast: whole, fix: fix) else { return nil }
        let words = items.compactMap { $0.parsed({ $0 }, expected: "a word", fix: fix) }
        guard words.count == items.count else { return nil }
        guard !words[0].isEmpty else {
            items[0].fail(expected: "a program", found: "nothing", fix: fix)
            return nil
        }
        return words
    }
}

/// Returns the text if it is a valid name of an environment variable.
func variableName(_ text: String) -> String? {
    let isName = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    return isName && text.first?.isNumber == false ? text : nil
}
