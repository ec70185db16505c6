import Nostr

extension ConfigurationParser {
    /// Parses `{ listen: HOST:PORT, … }`; nil after a problem with the address.
    func console(_ value: ConfigurationValue) -> ConsoleConfiguration? {
        guard let fields = value.fields(ConfigurationSchema.console) else { return nil }
        let address = fields.required("listen")
        let listen = address?.parsed(
            ListenAddress.init(configurationText:), expected: "HOST:PORT",
            fix: "write for example 127.0.0.1:9465 or [::1]:9465")
        var console = ConsoleConfiguration()
        let fix = "write for example hosts: [console.example]"
        console.hosts = (fields.optional("hosts")?.list(of: "host names", fix: fix) ?? []).compactMap {
            $0.parsed(hostName(configurationText:), expected: "a host name without a port", fix: fix)
        }
        console.tls = fields.optional("tls").flatMap(certificate)
        console.behindProxy = fields.optional("behindProxy")?.parsed(
            hostName(configurationText:), expected: "a host name without a port",
            fix: "write for example behindProxy: console.example")
        console.contents =
            fields.optional("contents")?.parsed(
                { ["true": true, "false": false][$0] }, expected: "true or false",
                fix: "write true if the console may show the text of messages") ?? false
        console.operators =
            fields.optional("operators").flatMap { publicKeys($0, fix: "write operators: [npub1…]") } ?? []
        console.viewers = fields.optional("viewers").flatMap { publicKeys($0, fix: "write viewers: [npub1…]") } ?? []
        console.reports = fields.optional("reports")?
            .string(expected: "a path", fix: "write for example reports: ./load").map(resolved)
        guard let listen else { return nil }
        console.listen = listen
        if !listen.isLoopback, fields.optional("tls") == nil, fields.optional("behindProxy") == nil {
            address?.fail(
                expected: "a loopback address, unless tls or behindProxy protects the connection",
                fix: "write 127.0.0.1:\(listen.port), add tls: { certificate: …, key: … }, or name the reverse proxy")
        }
        return console
    }

    private func certificate(_ value: ConfigurationValue) -> ConsoleConfiguration.Certificate? {
        guard let fields = value.fields(ConfigurationSchema.consoleTLS) else { return nil }
        let certificate = fields.required("certificate")?
            .string(expected: "a path", fix: "write certificate: console.pem").map(resolved)
        let key = fields.required("key")?.string(expected: "a path", fix: "write key: console.key").map(resolved)
        guard let certificate, let key else { return nil }
        return ConsoleConfiguration.Certificate(certificate: certificate, key: key)
    }
}
