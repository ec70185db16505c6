public import Nostr
import TLSCodec

// struct {                                  v1 v2 v3
//     uint16 version;
//     opaque nostr_group_id[32];
//     opaque name<V>;
//     opaque description<V>;
//     opaque admin_pubkeys<V>;              k × 32 bytes
//     RelayUrl relays<V>;                   opaque url<V> each
//     opaque image_hash<V>;                 empty or 32
//     opaque image_key<V>;                  empty or 32
//     opaque image_nonce<V>;                empty or 12
//     opaque image_upload_key<V>;           empty or 32
//     opaque disappearing_message_secs<V>;  v3 only: empty or uint64
// } NostrGroupData;

/// Group state shared by all members on top of MLS: extension 0xf2ee of the GroupContext (MIP-01).
public struct GroupData: Hashable, Sendable {
    /// The public id in the `h` tag of the group's events.
    public var nostrGroupID: Bytes32
    /// Name of the group; when written, at most ``maximumNameBytes`` of UTF-8.
    public var name: String
    /// Description of the group; when written, at most ``maximumDescriptionBytes`` of UTF-8.
    public var description: String
    /// Accounts that may change members and group data; when written, at most ``maximumAdmins``.
    public var admins: [PublicKey]
    /// Relays that carry the group's events; when written, at most ``maximumRelays``.
    public var relays: [RelayURL]
    /// The group's encrypted picture; nil unless hash, key and nonce are all present.
    public var image: GroupImage?
    /// Seconds after which messages disappear. A value makes the data version 3, which MDK up to 0.8 cannot read.
    public var disappearingSeconds: UInt64?
    /// Trailing fields of a version later than 3, written back as read.
    var laterFields: LaterFields?

    struct LaterFields: Hashable, Sendable {
        let version: UInt16
        let bytes: [UInt8]
    }

    /// Creates group data; its limits are checked when a group is created or updated.
    public init(
        nostrGroupID: Bytes32, name: String, description: String, admins: [PublicKey], relays: [RelayURL],
        image: GroupImage? = nil, disappearingSeconds: UInt64? = nil
    ) {
        self.nostrGroupID = nostrGroupID
        self.name = name
        self.description = description
        self.admins = admins
        self.relays = relays
        self.image = image
        self.disappearingSeconds = disappearingSeconds
    }

    /// The public id in lower-case hexadecimal digits, as in the `h` tag.
    public var nostrGroupIDHex: String { self.nostrGroupID.hex }

    /// Returns whether an account is an admin; it need not be a member.
    public func isAdmin(_ key: PublicKey) -> Bool { self.admins.contains(key) }
}

/// Hash, key and nonce of a group's encrypted picture (MIP-01).
public struct GroupImage: Hashable, Sendable {
    /// SHA-256 of the encrypted blob, 32 bytes.
    public var hash: [UInt8]
    /// Seed of the encryption key, 32 bytes; in version 1 the key itself.
    public var key: [UInt8]
    /// Nonce of ChaCha20-Poly1305, 12 bytes.
    public var nonce: [UInt8]
    /// Seed of the key pair that uploads the blob, 32 bytes; empty in version 1.
    public var uploadKey: [UInt8]

    /// Creates a description without checking lengths; see ``GroupImageEncryption/encrypt(_:type:using:)``.
    public init(hash: [UInt8], key: [UInt8], nonce: [UInt8], uploadKey: [UInt8]) {
        self.hash = hash
        self.key = key
        self.nonce = nonce
        self.uploadKey = uploadKey
    }
}

extension GroupData {
    /// Maximum length of the name in bytes. Peers store no more (docs/protocol/marmot.md §3.3), so this and the limits
    /// below hold for data that this library writes.
    public static let maximumNameBytes = 255
    /// Maximum length of the description in bytes.
    public static let maximumDescriptionBytes = 2000
    /// Maximum number of admins.
    public static let maximumAdmins = 100
    /// Maximum number of relays.
    public static let maximumRelays = 100
    /// Maximum length of a relay's URL in bytes.
    public static let maximumRelayBytes = 512

    /// Throws `MarmotError.Code.badGroupData` if a peer could not store this.
    func validateForWriting() throws(MarmotError) {
        func require(_ what: String, _ count: Int, atMost limit: Int) throws(MarmotError) {
            guard count <= limit else {
                throw MarmotError(.badGroupData, "\(what) has \(count), peers store at most \(limit)")
            }
        }
        try require("the name's length in bytes", self.name.utf8.count, atMost: Self.maximumNameBytes)
        try require(
            "the description's length in bytes", self.description.utf8.count, atMost: Self.maximumDescriptionBytes)
        try require("the list of admins", self.admins.count, atMost: Self.maximumAdmins)
        try require("the list of relays", self.relays.count, atMost: Self.maximumRelays)
        for relay in self.relays {
            try require("a relay's length in bytes", relay.string.utf8.count, atMost: Self.maximumRelayBytes)
        }
        if let image {
            guard image.hash.count == 32, image.key.count == 32, image.nonce.count == 12,
                image.uploadKey.isEmpty || image.uploadKey.count == 32
            else { throw MarmotError(.badGroupData, "the image's hash and key must have 32 bytes, its nonce 12") }
        }
        guard self.disappearingSeconds != 0 else {
            throw MarmotError(.badGroupData, "a disappearing timer of 0 is not allowed; leave it out")
        }
    }

    /// Returns the extension's data. Admins and relays are sorted and deduplicated, as in MDK.
    func encoded() -> [UInt8] {
        var writer = TLSWriter(capacity: 256)
        writer.write(self.laterFields?.version ?? (self.disappearingSeconds == nil ? 2 : 3))
        writer.writeFixed(self.nostrGroupID.bytes)
        writer.writeOpaque(Array(self.name.utf8))
        writer.writeOpaque(Array(self.description.utf8))
        writer.writeVector { writer in
            for admin in Set(self.admins).sorted() { writer.writeFixed(admin.bytes) }
        }
        writer.writeVector { writer in
            for relay in Set(self.relays).sorted() { writer.writeOpaque(Array(relay.string.utf8)) }
        }
        writer.writeOpaque(self.image?.hash ?? [])
        writer.writeOpaque(self.image?.key ?? [])
        writer.writeOpaque(self.image?.nonce ?? [])
        writer.writeOpaque(self.image?.uploadKey ?? [])
        if let disappearingSeconds {
            writer.writeVector { $0.write(disappearingSeconds) }
        } else if self.laterFields != nil {
            writer.writeOpaque([])
        }
        writer.writeFixed(self.laterFields?.bytes ?? [])
        return writer.bytes
    }

    /// Parses the extension's data. Versions 1 and 2 have ten fields, 3 and later eleven; up to version 3 trailing
    /// bytes are refused (docs/protocol/marmot.md §3.3).
    init(encoded: [UInt8]) throws(MarmotError) {
        do {
            var reader = TLSReader(encoded)
            let version = try reader.readUInt16()
            guard version > 0 else {
                throw TLSCodecError(.invalidValue, offset: 0, "group data version 0 does not exist")
            }
            guard let id = Bytes32(try reader.readFixed(32)) else {
                throw TLSCodecError(.invalidValue, offset: 2, "nostr_group_id must be 32 bytes")
            }
            self.nostrGroupID = id
            self.name = try reader.readText("name")
            self.description = try reader.readText("description")
            self.admins = try Self.readAdmins(&reader)
            self.relays = try Self.readRelays(&reader)
            let hash = try reader.readOpaque(length: 32, "image_hash")
            let key = try reader.readOpaque(length: 32, "image_key")
            let nonce = try reader.readOpaque(length: 12, "image_nonce")
            let uploadKey = try reader.readOpaque(length: 32, "image_upload_key")
            if !hash.isEmpty, !key.isEmpty, !nonce.isEmpty {
                self.image = GroupImage(hash: hash, key: key, nonce: nonce, uploadKey: uploadKey)
            }
            if version >= 3 { self.disappearingSeconds = try Self.readTimer(&reader) }
            if version <= 3 {
                try reader.finish()
            } else {
                self.laterFields = LaterFields(version: version, bytes: try reader.readFixed(reader.remaining))
            }
        } catch {
            throw MarmotError(.badGroupData, "extension 0xf2ee \(error)")
        }
    }

    private static func readAdmins(_ reader: inout TLSReader) throws(TLSCodecError) -> [PublicKey] {
        try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [PublicKey] in
            var admins: [PublicKey] = []
            while !inner.isAtEnd {
                let offset = inner.offset
                guard let key = try? PublicKey(bytes: try inner.readFixed(32)) else {
                    throw TLSCodecError(.invalidValue, offset: offset, "admin_pubkeys must be a list of 32-byte keys")
                }
                admins.append(key)
            }
            return admins
        }
    }

    private static func readRelays(_ reader: inout TLSReader) throws(TLSCodecError) -> [RelayURL] {
        try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> [RelayURL] in
            var relays: [RelayURL] = []
            while !inner.isAtEnd {
                let offset = inner.offset
                guard let relay = try? RelayURL(try inner.readText("relay")) else {
                    throw TLSCodecError(.invalidValue, offset: offset, "a relay is not a ws:// or wss:// URL")
                }
                relays.append(relay)
            }
            return relays
        }
    }

    private static func readTimer(_ reader: inout TLSReader) throws(TLSCodecError) -> UInt64? {
        try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> UInt64? in
            guard !inner.isAtEnd else { return nil }
            let offset = inner.offset
            let seconds = try inner.readUInt64()
            guard seconds > 0 else {
                throw TLSCodecError(.invalidValue, offset: offset, "disappearing_message_secs is 0")
            }
            return seconds
        }
    }
}

extension TLSReader {
    fileprivate mutating func readText(_ what: String) throws(TLSCodecError) -> String {
        let offset = self.offset
        guard let text = String(validating: try self.readOpaque(), as: UTF8.self) else {
            throw TLSCodecError(.invalidValue, offset: offset, "\(what) is not UTF-8")
        }
        return text
    }

    /// Reads an `opaque<V>` that is empty or has `length` bytes.
    fileprivate mutating func readOpaque(length: Int, _ what: String) throws(TLSCodecError) -> [UInt8] {
        let offset = self.offset
        let bytes = try self.readOpaque()
        guard bytes.isEmpty || bytes.count == length else {
            throw TLSCodecError(.invalidValue, offset: offset, "\(what) has \(bytes.count) bytes, not 0 or \(length)")
        }
        return bytes
    }
}
