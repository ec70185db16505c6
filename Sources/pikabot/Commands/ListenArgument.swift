import ArgumentParser

/// `HOST:PORT`; an IPv6 host is in brackets.
struct ListenArgument: ExpressibleByArgument {
    let host: String
    let port: UInt16

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...])
        else { return nil }
        var host = argument[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = port
    }
}
