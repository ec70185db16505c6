import Marmot
public import Nostr

/// A file of a message, as described by its sender; only the hash is verified, on download.
public struct MediaAttachment: Sendable, Hashable {
    /// The file's position among the files of the message, from 0.
    public let index: Int
    /// 1 to 210 bytes of UTF-8 without path separators and control characters.
    public let filename: String
    /// `type/subtype`; in groups of the first generation one of MIP-04's list.
    public let type: String
    /// The address of the encrypted file; empty if it is at no address that can be fetched.
    public let url: String
    /// SHA-256 of the file.
    public let hash: Bytes32
    /// 12 bytes: the nonce of the file's encryption.
    public let nonce: [UInt8]
    /// The version of the file's encryption: `mip04-v2`, or `encrypted-media-v2` in the second generation.
    public let version: String
    /// Pixels, if the sender states them.
    public let width: UInt32?
    /// Pixels, if the sender states them.
    public let height: UInt32?
    /// The BlurHash of an image, if the sender states one.
    public let blurhash: String?
    /// The ThumbHash of an image, if the sender states one.
    public let thumbhash: String?

    /// The maximum number of files read from one message; senders may attach no more.
    public static let maximumCount = 32

    /// Returns the files that a message's `imeta` tags describe; skips `imeta` tags in other formats (NIP-92).
    static func references(in tags: [Tag]) -> [MediaReference] {
        Array(tags.lazy.filter { $0.name == "imeta" }.compactMap { try? MediaReference($0) }.prefix(Self.maximumCount))
    }

    /// As ``references(in:)``, in the formats of both generations.
    static func files(in tags: [Tag]) -> [FileReference] {
        Array(tags.lazy.compactMap { FileReference($0) }.prefix(Self.maximumCount))
    }

    /// Returns the files that the tags of a message describe.
    public static func all(in tags: [Tag]) -> [MediaAttachment] {
        Self.files(in: tags).enumerated().map { MediaAttachment($0.element, index: $0.offset) }
    }

    init?(_ stored: StoredMedia) {
        guard let file = FileReference(stored.reference) else { return nil }
        self.init(file, index: stored.index)
    }

    private init(_ file: FileReference, index: Int) {
        switch file {
        case .first(let file): self.init(file, index: index)
        case .second(let file): self.init(file, index: index)
        }
    }

    private init(_ file: AttachmentReference, index: Int) {
        self.index = index
        self.filename = file.safeName
        self.type = file.type.description
        self.url = FileReference.second(file).addresses.first ?? ""
        self.hash = file.hash
        self.nonce = file.nonce
        self.version = AttachmentReference.version
        self.width = file.pixels?.width
        self.height = file.pixels?.height
        self.blurhash = nil
        self.thumbhash = file.thumbhash
    }

    private init(_ file: MediaReference, index: Int) {
        self.index = index
        self.filename = file.filename
        self.type = file.type.description
        self.url = file.url
        self.hash = file.hash
        self.nonce = file.nonce
        self.version = MediaReference.version
        self.width = file.dimensions?.width
        self.height = file.dimensions?.height
        self.blurhash = file.blurhash
        self.thumbhash = file.thumbhash
    }
}

extension MessageEvent {
    /// The files of the message; ``AppCore/media(chatID:messageID:index:)`` downloads one.
    public var media: [MediaAttachment] { MediaAttachment.all(in: self.tags) }
}

extension StoredMessage {
    /// The files of the message.
    public var media: [MediaAttachment] { MediaAttachment.all(in: self.rumor.tags) }
}

/// Files to send in one message.
public struct OutgoingMedia: Sendable, Hashable {
    /// 1 to ``MediaAttachment/maximumCount``, together at most 100 MiB.
    public var files: [OutgoingFile]
    /// The text of the message; may be empty.
    public var caption: String
    /// Further tags, such as those of a reply; `imeta` is added.
    public var tags: [Tag]
    /// Tried in order until one accepts the files; if empty: those of ``CoreConfiguration/mediaServers``.
    public var servers: [MediaURL]

    /// Creates a message with files; checks no limits.
    public init(files: [OutgoingFile], caption: String = "", tags: [Tag] = [], servers: [MediaURL] = []) {
        self.files = files
        self.caption = caption
        self.tags = tags
        self.servers = servers
    }
}

/// A file to send unchanged: no metadata is removed, so a photograph still reveals its place and camera.
public struct OutgoingFile: Sendable, Hashable {
    /// The file's content.
    public var bytes: [UInt8]
    /// 1 to 210 bytes of UTF-8 without path separators and control characters.
    public var filename: String
    /// Any declared type; one that peers do not accept is sent as `application/octet-stream` (MIP-04). An image must
    /// start with the signature of its type.
    public var mediaType: String
    /// Pixels, for receivers; not verified.
    public var width: UInt32?
    /// Pixels, for receivers; not verified.
    public var height: UInt32?

    /// Creates a file to send; checks neither name nor type.
    public init(
        bytes: [UInt8], filename: String, mediaType: String, width: UInt32? = nil, height: UInt32? = nil
    ) {
        self.bytes = bytes
        self.filename = filename
        self.mediaType = mediaType
        self.width = width
        self.height = height
    }
}
