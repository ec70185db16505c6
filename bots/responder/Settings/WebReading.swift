import BotKit

extension SettingsReader {
    /// Headers that the request sets itself, or that would change its destination.
    private static let ownHeaders: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "content-type", "user-agent", "idempotency-key",
        "te", "upgrade", "expect", "trailer",
    ]
    /// Headers whose values are secrets, which a configuration must only refer to.
    private static let secretHeaders: Set<String> = [
        "authorization", "proxy-authorization", "cookie", "x-api-key", "api-key",
    ]

    func webhook(_ key: String, _ scope: TextScope?, _ defaults: RuleDefaults) -> WebhookAction? {
        guard let reader = object(key) else { return nil }
        let method = reader.parsed(
            "method", expected: "one of GET, POST, PUT, PATCH, DELETE", fix: "write method: POST"
        ) {
            value in
            value.stringValue.flatMap { ["GET", "POST", "PUT", "PATCH", "DELETE"].contains($0) ? $0 : nil }
        }
        let url = reader.template("url", scope, required: true)
        let entry = reader.string("url").flatMap { reader.host(of: $0, "url", defaults) }
        let headers = reader.headers("headers", token: reader.secret("token"))
        let timeout = reader.duration("timeout", default: .seconds(10))
        let use = reader.answerUse("answer", scope)
        guard let url, let entry else { return nil }
        return WebhookAction(
            url: url, method: method ?? "POST", headers: headers, timeout: timeout,
            reachesPrivateAddresses: entry.isPrivate, use: use)
    }

    /// Returns the listed host of a URL; reports a problem if it is not listed, or the connection would not be secure.
    func host(of url: String, _ key: String, _ defaults: RuleDefaults) -> HostList.Entry? {
        guard let address = WebAddress(url), !url.contains(where: \.isWhitespace) else {
            fail(
                key,
                expected:
                    "an https:// URL with a host and without placeholders, user name or whitespace before the path",
                fix: "write https://HOST/…")
            return nil
        }
        guard let entry = defaults.hosts.entry(for: address.authority, port: address.port) else {
            let listed = defaults.hosts.entries.map(\.host)
            let nearest = nearestName(to: address.authority.host, in: listed)
            fail(
                key, expected: "a host listed under allow", found: "\"\(address.authority.host)\"",
                fix: nearest.map { "write \($0), or add the host to allow: [ … ]" }
                    ?? "add it to the responder's allow: [ … ]")
            return nil
        }
        guard address.isSecure || entry.isPrivate else {
            fail(
                key, expected: "https:// for a host that is not private",
                fix: "write https://, or list the host as { host: \(entry.host), private: true }")
            return nil
        }
        return entry
    }

    private func headers(_ key: String, token: SettingText?) -> [(name: String, value: SettingText)] {
        var headers: [(name: String, value: SettingText)] = []
        if let token { headers.append(("Authorization", token)) }
        guard has(key), let reader = object(key) else { return headers }
        for name in reader.keys {
            guard let value = reader.header(name) else { continue }
            headers.append((name, value))
        }
        return headers
    }

    private func header(_ name: String) -> SettingText? {
        let isToken = { (character: Character) in
            character.isASCII && (character.isLetter || character.isNumber || "-_.".contains(character))
        }
        guard name.allSatisfy(isToken), !Self.ownHeaders.contains(name.lowercased()) else {
            _ = value(name)
            fail(name, expected: "a header that may be set", fix: "remove it")
            return nil
        }
        guard let text = settingText(name) else { return nil }
        guard case .plain(let plain) = text else { return text }
        guard !Self.secretHeaders.contains(name.lowercased()) else {
            fail(
                name, expected: "a reference to a secret", found: "a string (not shown)",
                fix: "write { file: PATH }, { env: NAME }, { credential: NAME } or { command: [program, argument] }")
            return nil
        }
        guard plain.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) else {
            fail(name, expected: "one line of plain ASCII", fix: "remove line breaks and non-ASCII characters")
            return nil
        }
        return text
    }
}
