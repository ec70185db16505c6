import Marmot
import Nostr

/// A field of a group's data that an admin may set (MIP-01). Changes are applied field by field to the data at the time
/// of the commit, so that changes of other fields are not undone.
enum GroupField: Sendable, Hashable {
    case name(String)
    case description(String)
    case relays([RelayURL])
    case admins([PublicKey])
    case nostrGroupID(Bytes32)
    /// The disappearing timer in seconds; nil for none.
    case disappearing(UInt64?)
    /// A picture that is already on a server; nil for none.
    case image(GroupImage?)
    /// As ``image(_:)``, in the second generation.
    case picture(GroupPicture)
    /// A public picture, in the second generation; nil for none.
    case avatar(AvatarURL?)

    func apply(to data: inout GroupData) {
        switch self {
        case .name(let name): data.name = name
        case .description(let description): data.description = description
        case .relays(let relays): data.relays = relays
        case .admins(let admins): data.admins = admins
        case .nostrGroupID(let id): data.nostrGroupID = id
        case .disappearing(let seconds): data.disappearingSeconds = seconds
        case .image(let image): data.image = image
        case .picture, .avatar: break
        }
    }

    /// Whether the data have this value.
    func isReached(in data: GroupData) -> Bool {
        switch self {
        case .name(let name): data.name == name
        case .description(let description): data.description == description
        case .relays(let relays): Set(data.relays) == Set(relays)
        case .admins(let admins): Set(data.admins) == Set(admins)
        case .nostrGroupID(let id): data.nostrGroupID == id
        case .disappearing(let seconds): data.disappearingSeconds == seconds
        case .image(let image): data.image == image
        case .picture, .avatar: false
        }
    }

    /// Whether this field differs between two states of the data.
    func differs(_ before: GroupData, _ after: GroupData) -> Bool {
        switch self {
        case .name: before.name != after.name
        case .description: before.description != after.description
        case .relays: Set(before.relays) != Set(after.relays)
        case .admins: Set(before.admins) != Set(after.admins)
        case .nostrGroupID: before.nostrGroupID != after.nostrGroupID
        case .disappearing: before.disappearingSeconds != after.disappearingSeconds
        case .image: before.image != after.image
        case .picture, .avatar: false
        }
    }
}

/// An encrypted picture of a group of the second generation that is already on a server; nil for none.
struct GroupPicture: Sendable, Hashable, CustomStringConvertible {
    let image: BlossomImage.Reference?

    func hash(into hasher: inout Hasher) { hasher.combine(self.image?.hash) }

    /// The picture's hash, without its keys.
    var description: String { self.image?.hash.hex ?? "none" }
}

/// The stored form of a field: JSON.
extension GroupField {
    var json: JSONValue {
        switch self {
        case .name(let name): ["name": .string(name)]
        case .description(let description): ["description": .string(description)]
        case .relays(let relays): ["relays": .array(relays.map { .string($0.string) })]
        case .admins(let admins): ["admins": .array(admins.map { .string($0.hex) })]
        case .nostrGroupID(let id): ["nostr_group_id": .string(id.hex)]
        case .disappearing(let seconds): ["disappearing": .string(seconds.map { String($0) } ?? "never")]
        case .image(let image): ["image": image?.json ?? .null]
        case .picture(let picture): ["picture": .string(Hex.encode(BlossomImage(picture.image).encoded))]
        case .avatar(let avatar): ["avatar": .string(Hex.encode((avatar ?? .absent).encoded))]
        }
    }

    init?(_ json: JSONValue) {
        if let name = json["name"]?.string {
            self = .name(name)
        } else if let description = json["description"]?.string {
            self = .description(description)
        } else if let list = json["relays"]?.array {
            let relays = list.compactMap { $0.string.flatMap { try? RelayURL($0) } }
            guard relays.count == list.count else { return nil }
            self = .relays(relays)
        } else if let list = json["admins"]?.array {
            let admins = list.compactMap { $0.string.flatMap { try? PublicKey(hex: $0) } }
            guard admins.count == list.count else { return nil }
            self = .admins(admins)
        } else if let id = json["nostr_group_id"]?.string.flatMap({ Bytes32(hex: $0) }) {
            self = .nostrGroupID(id)
        } else if let seconds = json["disappearing"]?.string {
            guard seconds != "never" else { self = .disappearing(nil); return }
            guard let number = UInt64(seconds), number > 0 else { return nil }
            self = .disappearing(number)
        } else if let bytes = json["picture"]?.string.flatMap({ Hex.decode($0) }) {
            guard let picture = try? BlossomImage(data: bytes) else { return nil }
            self = .picture(GroupPicture(image: picture.image))
        } else if let bytes = json["avatar"]?.string.flatMap({ Hex.decode($0) }) {
            guard let avatar = try? AvatarURL(data: bytes) else { return nil }
            self = .avatar(avatar == .absent ? nil : avatar)
        } else if let image = json["image"] {
            guard image != .null else { self = .image(nil); return }
            guard let image = GroupImage(image) else { return nil }
            self = .image(image)
        } else {
            return nil
        }
    }
}

extension GroupImage {
    fileprivate var json: JSONValue {
        [
            "hash": .string(Hex.encode(self.hash)), "key": .string(Hex.encode(self.key)),
            "nonce": .string(Hex.encode(self.nonce)), "upload_key": .string(Hex.encode(self.uploadKey)),
        ]
    }

    fileprivate init?(_ json: JSONValue) {
        func bytes(_ field: String) -> [UInt8]? { json[field]?.string.flatMap { Hex.decode($0) } }
        guard let hash = bytes("hash"), let key = bytes("key"), let nonce = bytes("nonce"),
            let uploadKey = bytes("upload_key")
        else { return nil }
        self.init(hash: hash, key: key, nonce: nonce, uploadKey: uploadKey)
    }
}
