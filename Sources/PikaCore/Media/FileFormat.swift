import MLS
import Marmot
import Nostr

/// A file that is encrypted and not uploaded yet, in the format of its group's generation.
enum SealedFile: Sendable {
    case first(EncryptedFile)
    case second(EncryptedAttachment)

    /// Encrypts a file for the current epoch of a group.
    init(_ file: OutgoingFile, for group: AccountGroup, using random: inout CoreRandom) throws(MarmotError) {
        switch group.generation {
        case .v1:
            self = .first(
                try EncryptedMedia.encrypt(
                    file.bytes, type: MediaType(sending: file.mediaType), filename: file.filename,
                    secret: group.mediaSecret, using: &random))
        case .v2:
            self = .second(
                try AttachmentEncryption.encrypt(
                    file.bytes, type: try CanonicalMediaType(file.mediaType), filename: file.filename,
                    secret: group.mediaSecret, using: &random))
        }
    }

    var blob: [UInt8] {
        switch self {
        case .first(let file): file.blob
        case .second(let file): file.blob
        }
    }

    var blobHash: Bytes32 {
        switch self {
        case .first(let file): file.blobHash
        case .second(let file): file.blobHash
        }
    }

    /// The content type sent to the server. In the second generation it hides what the file is, as in MDK.
    var contentType: String {
        switch self {
        case .first(let file): file.type.description
        case .second: MediaType.octetStream.description
        }
    }

    /// Returns the `imeta` tag to send once a server has the blob.
    func tag(at url: String, width: UInt32?, height: UInt32?) throws(MarmotError) -> Tag {
        switch self {
        case .first(let file):
            var dimensions: MediaReference.Dimensions?
            if let width, let height { dimensions = .init(width: width, height: height) }
            return try file.reference(url: url, dimensions: dimensions).tag
        case .second(let file):
            var dimensions: String?
            if let width, let height { dimensions = "\(width)x\(height)" }
            return try file.attachment(at: [.blossom(url)], dimensions: dimensions).tag
        }
    }
}

/// A reference to a file of a message, in the format of either generation.
enum FileReference: Sendable {
    case first(MediaReference)
    case second(AttachmentReference)

    /// Parses an `imeta` tag; nil for other formats (NIP-92).
    init?(_ tag: Tag) {
        guard tag.name == "imeta" else { return nil }
        if let file = try? MediaReference(tag) {
            self = .first(file)
        } else if let file = try? AttachmentReference(tag) {
            self = .second(file)
        } else {
            return nil
        }
    }

    var tag: Tag {
        switch self {
        case .first(let file): file.tag
        case .second(let file): file.tag
        }
    }

    /// The maximum number of a file's addresses that are queried. A sender may name any number, and each may return a
    /// large file with the wrong hash.
    static let maximumAddresses = 4

    /// The first few addresses that the sender names.
    var addresses: [String] {
        switch self {
        case .first(let file): return [file.url]
        case .second(let file):
            let places = file.locators.filter { $0.kind == EncryptedMediaPolicy.blossom }
            return places.prefix(Self.maximumAddresses).map(\.value)
        }
    }

    /// Returns the places to ask for the file: the addresses that the sender names, then these servers, where its hash
    /// is known. Skips addresses that cannot be queried; throws if none remains.
    func places(besides servers: [MediaURL]) throws(AppCoreError) -> [MediaURL] {
        var places: [MediaURL] = []
        var failure = AppCoreError(.mediaFailed, "the file is at no address that can be fetched")
        for address in self.addresses {
            do throws(AppCoreError) {
                let place = try MediaURL(address)
                if !places.contains(place) { places.append(place) }
            } catch { failure = error }
        }
        if let hash = self.blobHash ?? places.first?.blobHash {
            for server in servers where !places.contains(server.blob(hash)) { places.append(server.blob(hash)) }
        }
        guard !places.isEmpty else { throw failure }
        return places
    }

    /// SHA-256 of the encrypted file; nil in the first generation, where only the address contains it.
    var blobHash: Bytes32? {
        switch self {
        case .first: nil
        case .second(let file): file.blobHash
        }
    }

    /// Derives the file's key from the secret of an epoch.
    func key(_ secret: Secret) -> Secret {
        switch self {
        case .first(let file): MediaKey(of: file, secret: secret).secret
        case .second(let file): AttachmentEncryption.key(of: file, secret: secret)
        }
    }

    /// Decrypts a downloaded file with the first key that fits.
    func open(_ blob: [UInt8], keys: [Secret]) throws(MarmotError) -> [UInt8] {
        switch self {
        case .first(let file):
            return try EncryptedMedia.decrypt(
                blob, of: file, keys: try keys.map { key throws(MarmotError) in try MediaKey(stored: key) })
        case .second(let file):
            var failure = MarmotError(.badMedia, "no key of the file is known")
            for key in keys {
                do throws(MarmotError) { return try AttachmentEncryption.decrypt(blob, of: file, key: key) } catch {
                    failure = error
                }
            }
            throw failure
        }
    }
}

extension AttachmentReference {
    /// The file name without path separators and control characters, at most 210 bytes: senders may choose any name, and
    /// readers store files under it.
    var safeName: String {
        var name = ""
        for scalar in self.filename.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
            let isUnsafe = isControl || scalar == "/" || scalar == "\\"
            let next = isUnsafe ? "_" : String(scalar)
            guard name.utf8.count + next.utf8.count <= 210 else { break }
            name += next
        }
        return name
    }

    /// Width and height in pixels; nil unless the sender states both as numbers.
    var pixels: (width: UInt32, height: UInt32)? {
        let parts = (self.dimensions ?? "").split(separator: "x", omittingEmptySubsequences: false)
        guard parts.count == 2, let width = UInt32(parts[0]), let height = UInt32(parts[1]) else { return nil }
        return (width, height)
    }
}
