/// MIME type of a file in canonical form: trimmed, in lower case, without parameters (MIP-04).
public struct MediaType: Hashable, Sendable, CustomStringConvertible {
    /// `type/subtype`, ASCII.
    public let description: String

    /// Fallback for files of any type that is not on MIP-04's list.
    public static let octetStream = MediaType(canonical: "application/octet-stream")

    private init(canonical: String) { self.description = canonical }

    /// Parses a declared type such as `Image/PNG; q=1`.
    ///
    /// - Throws: `MarmotError.Code.badMedia` unless the type is on MIP-04's list or ``octetStream``; see
    ///   ``init(sending:)``.
    public init(_ declared: String) throws(MarmotError) {
        let text = Self.canonicalize(declared)
        guard Self.allowed.contains(text) || text == Self.octetStream.description else {
            throw MarmotError(.badMedia, "the type is not on the list of allowed types (MIP-04)")
        }
        self.description = text
    }

    /// Chooses the type to send for any declared type: the type itself if peers accept it, otherwise ``octetStream``.
    public init(sending declared: String) {
        let text = Self.canonicalize(declared)
        self = Self.allowed.contains(text) ? MediaType(canonical: text) : .octetStream
    }

    /// Whether the type is `image/` with any subtype.
    public var isImage: Bool { self.description.utf8.starts(with: "image/".utf8) }

    /// Returns whether `file` starts with this type's signature; always true unless this is an image type.
    public func matches(_ file: [UInt8]) -> Bool {
        guard self.isImage else { return true }
        return Self.signatures.contains { $0.type == self.description && $0.opens(file) }
    }

    // Compare scalars and bytes, not characters, so that a combining mark cannot hide a semicolon.
    private static func canonicalize(_ declared: String) -> String {
        var scalars = Substring(declared).unicodeScalars[...]
        if let end = scalars.firstIndex(of: ";") { scalars = scalars[..<end] }
        while let first = scalars.first, first.properties.isWhitespace { scalars.removeFirst() }
        while let last = scalars.last, last.properties.isWhitespace { scalars.removeLast() }
        let bytes = String(String.UnicodeScalarView(scalars)).utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        // No type on the list is this long, and only ASCII can match one.
        guard bytes.count <= 100, bytes.allSatisfy({ $0 < 0x80 }) else { return "" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let allowed: Set<String> = [
        "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/x-icon", "image/tiff",
        "image/x-farbfeld", "image/avif", "image/qoi",
        "video/mp4", "video/quicktime", "video/x-matroska", "video/webm", "video/x-msvideo", "video/ogg",
        "audio/ogg", "audio/flac", "audio/x-flac", "audio/aac", "audio/mp4", "audio/webm", "audio/mpeg", "audio/wav",
        "audio/x-matroska",
        "application/pdf", "text/plain",
    ]
}

extension MediaType {
    /// Leading bytes of an image type's files; nil matches any byte.
    private struct Signature {
        let type: String
        let pattern: [UInt8?]

        init(_ type: String, _ parts: [UInt8?]...) {
            self.type = "image/" + type
            self.pattern = Array(parts.joined())
        }

        func opens(_ file: [UInt8]) -> Bool {
            file.count >= self.pattern.count && zip(self.pattern, file).allSatisfy { $0 == nil || $0 == $1 }
        }
    }

    private static func text(_ text: StaticString) -> [UInt8?] {
        text.withUTF8Buffer { $0.map { byte in byte } }
    }

    private static let signatures: [Signature] = [
        Signature("png", [0x89], text("PNG\r\n"), [0x1A, 0x0A]),
        Signature("jpeg", [0xFF, 0xD8, 0xFF]),
        Signature("gif", text("GIF87a")),
        Signature("gif", text("GIF89a")),
        Signature("webp", text("RIFF"), [nil, nil, nil, nil], text("WEBP")),
        Signature("bmp", text("BM")),
        Signature("x-icon", [0, 0, 1, 0]),
        Signature("tiff", text("II"), [0x2A, 0]),
        Signature("tiff", text("MM"), [0, 0x2A]),
        Signature("x-farbfeld", text("farbfeld")),
        Signature("avif", [0, 0, nil, nil], text("ftypavif")),
        Signature("qoi", text("qoif")),
    ]
}
