/// A GET or HEAD request; the endpoint itself handles the difference.
package struct HTTPRequest: Sendable, Hashable {
    /// The path, percent-decoded.
    package let path: String
    /// The parameters in the order of the request; names may be repeated.
    package let query: [(name: String, value: String)]

    /// The scrape timeout of a Prometheus server in seconds, from its header; nil for other clients.
    package let scrapeTimeout: String?

    /// Parses a request target; nil if it is not a path (RFC 9112 §3.2.1), or its percent-encoding is not UTF-8.
    package init?(target: String, scrapeTimeout: String? = nil) {
        guard target.hasPrefix("/") else { return nil }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard let path = Self.decoded(parts[0], plusIsSpace: false) else { return nil }
        var query: [(name: String, value: String)] = []
        for item in parts.dropFirst().joined().split(separator: "&") {
            let sides = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decoded(sides[0], plusIsSpace: true),
                let value = Self.decoded(sides.count > 1 ? sides[1] : "", plusIsSpace: true)
            else { return nil }
            query.append((name, value))
        }
        self.path = path
        self.query = query
        self.scrapeTimeout = scrapeTimeout
    }

    /// The first value of a query parameter.
    package subscript(_ name: String) -> String? { query.first { $0.name == name }?.value }

    private static func decoded(_ text: some StringProtocol, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }

    package static func == (left: HTTPRequest, right: HTTPRequest) -> Bool {
        left.path == right.path && left.query.elementsEqual(right.query, by: ==)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(path)
        for item in query {
            hasher.combine(item.name)
            hasher.combine(item.value)
        }
    }
}
