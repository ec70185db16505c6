import Nostr

/// Metadata of one file: stored beside it, and sent to clients (BUD-02).
struct BlobDescriptor: Sendable, Hashable {
    let hash: Bytes32
    let size: Int
    /// As declared by the uploader; an invalid type becomes `application/octet-stream`.
    let type: String
    /// The time of the first upload.
    let uploaded: UnixTime
    /// The uploaders; the file is deleted with its last owner.
    var owners: [PublicKey]

    /// Encodes the descriptor for clients; `base` is the scheme and authority of this server.
    func json(base: String) -> [UInt8] {
        let json: JSONValue = [
            "url": .string("\(base)/\(self.hash.hex).\(self.fileExtension)"), "sha256": .string(self.hash.hex),
            "size": .integer(Int64(self.size)), "type": .string(self.type), "uploaded": .integer(self.uploaded.seconds),
        ]
        return json.json()
    }

    /// Encodes the descriptor for storage, version 1.
    var stored: [UInt8] {
        let json: JSONValue = [
            "v": 1, "sha256": .string(self.hash.hex), "size": .integer(Int64(self.size)), "type": .string(self.type),
            "uploaded": .integer(self.uploaded.seconds), "owners": .array(self.owners.map { .string($0.hex) }),
        ]
        return json.json()
    }

    /// Decodes a stored descriptor; nil for any other bytes.
    init?(stored: [UInt8]) {
        guard let json = try? JSONValue(json: stored), json["v"]?.integer == 1,
            let hash = json["sha256"]?.string.flatMap({ Bytes32(hex: $0) }),
            let size = json["size"]?.integer.flatMap({ Int(exactly: $0) }), let type = json["type"]?.string,
            let uploaded = json["uploaded"]?.integer, let owners = json["owners"]?.array
        else { return nil }
        self.init(
            hash: hash, size: size, type: type, uploaded: UnixTime(uploaded),
            owners: owners.compactMap { $0.string.flatMap { try? PublicKey(hex: $0) } })
    }

    init(hash: Bytes32, size: Int, type: String, uploaded: UnixTime, owners: [PublicKey]) {
        self.hash = hash
        self.size = size
        self.type = type
        self.uploaded = uploaded
        self.owners = owners
    }

    /// Returns a media type that is safe in a header: two tokens (RFC 9110 §8.3.1) without parameters.
    static func mediaType(_ declared: String?) -> String {
        let type = (declared ?? "").prefix { $0 != ";" }.lowercased()
        let token = Set("abcdefghijklmnopqrstuvwxyz0123456789!#$&-^_.+".utf8)
        let parts = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isSound =
            parts.count == 2 && type.utf8.count <= 127
            && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(token.contains) }
        return isSound ? type : "application/octet-stream"
    }

    private var fileExtension: String {
        switch self.type {
        case "image/png": "png"
        case "image/jpeg": "jpg"
        case "image/gif": "gif"
        case "image/webp": "webp"
        case "video/mp4": "mp4"
        case "audio/mpeg": "mp3"
        case "application/pdf": "pdf"
        case "text/plain": "txt"
        default: "bin"
        }
    }
}
