import ArgumentParser

/// `HOST:PORT`; an IPv6 host is in brackets.
struct ListenArgument: ExpressibleByArgument {
    let host: String
    let port: UInt16

    init?(argument: String) {
        guard let colon = argument.lastIndex(of: ":") else { return nil }
        let digits = argument[argument.index(after: colon)...]
        // UInt16 alone would accept "+80".
        guard digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let port = UInt16(digits) else {
            return nil
        }
        var host = argument[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(where: { ":[]".contains($0) }) {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = port
    }
}
