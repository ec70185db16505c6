public import Nostr

/// Location of a message's file and everything needed to decrypt it except the key: an `imeta` tag (MIP-04).
public struct MediaReference: Hashable, Sendable {
    /// The only supported version of the encryption.
    public static let version = "mip04-v2"
    /// Maximum length of a filename in bytes.
    public static let maximumFilenameBytes = 210

    /// Width and height of a picture or video in pixels, as stated by the sender and not checked.
    public struct Dimensions: Hashable, Sendable {
        /// Width in pixels.
        public var width: UInt32
        /// Height in pixels.
        public var height: UInt32

        /// Creates dimensions in pixels.
        public init(width: UInt32, height: UInt32) {
            self.width = width
            self.height = height
        }
    }

    /// Location of the blob: any non-empty string, so check its scheme and host before fetching it.
    public let url: String
    /// MIME type of the plaintext.
    public let type: MediaType
    /// Filename without a path, 1 to ``maximumFilenameBytes`` bytes of UTF-8.
    public let filename: String
    /// Size of a picture or video; nil if not stated.
    public var dimensions: Dimensions?
    /// BlurHash preview of a picture, not checked; nil if not stated.
    public var blurhash: String?
    /// ThumbHash preview of a picture, not checked; nil if not stated.
    public var thumbhash: String?
    /// SHA-256 of the plaintext, not of the blob.
    public let hash: Bytes32
    /// Nonce of the encryption, 12 bytes.
    public let nonce: [UInt8]

    /// Throws `MarmotError.Code.badMedia` for an empty address, a nonce that is not 12 bytes long, or a filename that
    /// is empty, longer than 210 bytes or contains a path separator or control character.
    public init(
        url: String, type: MediaType, filename: String, dimensions: Dimensions? = nil, blurhash: String? = nil,
        thumbhash: String? = nil, hash: Bytes32, nonce: [UInt8]
    ) throws(MarmotError) {
        guard !url.isEmpty else { throw MarmotError(.badMedia, "a file needs a URL") }
        guard nonce.count == 12 else { throw MarmotError(.badMedia, "nonce: expected 12 bytes, found \(nonce.count)") }
        try Self.validate(filename: filename)
        self.url = url
        self.type = type
        self.filename = filename
        self.dimensions = dimensions
        self.blurhash = blurhash
        self.thumbhash = thumbhash
        self.hash = hash
        self.nonce = nonce
    }

    static func validate(filename: String) throws(MarmotError) {
        let count = filename.utf8.count
        guard count > 0, count <= self.maximumFilenameBytes else {
            throw MarmotError(.badMedia, "filename: expected 1 to \(self.maximumFilenameBytes) bytes, found \(count)")
        }
        let isForbidden = { (scalar: Unicode.Scalar) in
            scalar == "/" || scalar == "\\" || scalar.properties.generalCategory == .control
        }
        guard !filename.unicodeScalars.contains(where: isForbidden) else {
            throw MarmotError(.badMedia, "a filename must not contain path separators or control characters (MIP-04)")
        }
    }
}

extension MediaReference {
    /// The tag `["imeta", "url …", "m …", "filename …", …]`, its items in MDK's order.
    public var tag: Tag {
        var values = ["imeta", "url \(self.url)", "m \(self.type)", "filename \(self.filename)"]
        if let dimensions { values.append("dim \(dimensions.width)x\(dimensions.height)") }
        if let blurhash { values.append("blurhash \(blurhash)") }
        if let thumbhash { values.append("thumbhash \(thumbhash)") }
        values += ["x \(self.hash.hex)", "n \(Hex.encode(self.nonce))", "v \(Self.version)"]
        return Tag(values: values)
    }

    /// Parses an `imeta` tag with its items in any order; of duplicate items the last counts, as in MDK.
    ///
    /// Unknown items and a malformed `dim` are ignored.
    ///
    /// - Throws: `MarmotError.Code.badTag` if an item needed for decryption is missing or malformed, or if the
    ///   version is not ``version``.
    public init(_ tag: Tag) throws(MarmotError) {
        guard tag.name == "imeta" else { throw MarmotError(.badTag, "expected a tag imeta") }
        // Six required items plus the tag's name.
        guard tag.values.count >= 7 else {
            throw MarmotError(.badTag, "tag imeta: expected at least 7 values, found \(tag.values.count) (MIP-04)")
        }
        var items = Items()
        for value in tag.values.dropFirst() { try items.read(value) }
        guard items.version == Self.version else {
            throw MarmotError(.badTag, "tag imeta must be of version \(Self.version)")
        }
        guard let url = items.url, let type = items.type, let filename = items.filename, let hash = items.hash,
            let nonce = items.nonce
        else { throw MarmotError(.badTag, "tag imeta lacks one of url, m, filename, x and n (MIP-04)") }
        do {
            try self.init(
                url: url, type: type, filename: filename, dimensions: items.dimensions, blurhash: items.blurhash,
                thumbhash: items.thumbhash, hash: hash, nonce: nonce)
        } catch { throw MarmotError(.badTag, "tag imeta: \(error.message)") }
    }

    private struct Items {
        var url: String?
        var type: MediaType?
        var filename: String?
        var dimensions: Dimensions?
        var blurhash: String?
        var thumbhash: String?
        var hash: Bytes32?
        var nonce: [UInt8]?
        var version: String?

        mutating func read(_ item: String) throws(MarmotError) {
            // Compare scalars: as characters, a space followed by a combining mark would not match.
            guard let space = item.unicodeScalars.firstIndex(of: " ") else { return }
            let value = String(item.unicodeScalars[item.unicodeScalars.index(after: space)...])
            switch String(item.unicodeScalars[..<space]) {
            case "url": self.url = value
            case "m": self.type = try Self.checked("m") { () throws(MarmotError) in try MediaType(value) }
            case "filename":
                try Self.checked("filename") { () throws(MarmotError) in try MediaReference.validate(filename: value) }
                self.filename = value
            case "dim": self.dimensions = Dimensions(value) ?? self.dimensions
            case "blurhash": self.blurhash = value
            case "thumbhash": self.thumbhash = value
            case "x":
                guard let hash = Bytes32(hex: value) else {
                    throw MarmotError(.badTag, "item x of tag imeta must be 64 hexadecimal digits")
                }
                self.hash = hash
            case "n":
                guard let nonce = Hex.decode(value), nonce.count == 12 else {
                    throw MarmotError(.badTag, "item n of tag imeta must be 24 hexadecimal digits")
                }
                self.nonce = nonce
            case "v": self.version = value
            default: break
            }
        }

        private static func checked<Value>(
            _ item: String, _ body: () throws(MarmotError) -> Value
        ) throws(MarmotError) -> Value {
            do { return try body() } catch { throw MarmotError(.badTag, "item \(item) of tag imeta: \(error.message)") }
        }
    }
}

extension MediaReference.Dimensions {
    /// Parses `640x480`; nil for any other text.
    fileprivate init?(_ text: String) {
        let sides = text.split(separator: "x", omittingEmptySubsequences: false)
        guard sides.count == 2, let width = UInt32(sides[0]), let height = UInt32(sides[1]) else { return nil }
        self.init(width: width, height: height)
    }
}
