/// A path of the console with its query, percent-encoded. Links are made of these only, so that no text of others can
/// become an address.
package struct ConsolePath: Sendable, Hashable {
    package let text: String

    private init(_ text: String) {
        self.text = text
    }

    package static let overview = ConsolePath("/")
    package static let why = ConsolePath("/why")
    package static let logs = ConsolePath("/logs")
    package static let configuration = ConsolePath("/configuration")
    package static let load = ConsolePath("/load")
    static let events = ConsolePath("/events")
    package static let login = ConsolePath("/login")

    package static func account(_ name: String) -> ConsolePath { ConsolePath("/accounts/\(encoded(name))") }

    package static func chat(_ id: String, of account: String) -> ConsolePath {
        ConsolePath("/accounts/\(encoded(account))/chats/\(encoded(id))")
    }

    package static func action(_ name: String) -> ConsolePath { ConsolePath("/actions/\(encoded(name))") }

    /// Adds a query; members without a value are omitted.
    package func with(_ members: KeyValuePairs<String, String?>) -> ConsolePath {
        let pairs = members.compactMap { name, value in
            value.map { "\(Self.encoded(name))=\(Self.encoded($0))" }
        }
        guard !pairs.isEmpty else { return self }
        return ConsolePath(text + (text.contains("?") ? "&" : "?") + pairs.joined(separator: "&"))
    }

    /// Percent-encodes all but the unreserved characters (RFC 3986 §2.3).
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }
}

extension HTML {
    package static func link(_ path: ConsolePath, _ content: HTML) -> HTML {
        #"<a href="\#(path.text)">\#(content)</a>"#
    }
}
