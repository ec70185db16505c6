/// A file of the page, part of the program, so that a static binary needs nothing beside it.
package struct Asset: Sendable, Hashable {
    package let name: String
    package let contentType: String
    package let content: String
    /// Changes with the content, so that browsers may keep the file.
    package let version: String

    private init(_ name: String, _ contentType: String, _ content: String) {
        self.name = name
        self.contentType = contentType
        self.content = content
        version = Self.hash(content)
    }

    package var path: String { "/\(name)?v=\(version)" }

    package static let styleSheet = Asset("console.css", "text/css; charset=utf-8", StyleSheet.text)
    package static let script = Asset("console.js", "text/javascript; charset=utf-8", Script.text)
    package static let icon = Asset(
        "icon.svg", "image/svg+xml",
        ##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#0b5cad"/><path d="M5 12V4h4a2.5 2.5 0 0 1 0 5H7" fill="none" stroke="#fff" stroke-width="2"/></svg>"##
    )
    package static let all = [styleSheet, script, icon]

    /// FNV-1a; names a version and protects nothing.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 36)
    }
}
