import MLS
import Marmot
import Nostr

/// A member's profile in one group only (docs/protocol/marmot.md §8.3): kind 0 inside the group.
struct GroupProfile: Sendable, Hashable {
    /// A picture that is encrypted for the group.
    struct Picture: Sendable, Hashable {
        /// The `imeta` tag.
        let reference: Tag
        /// Candidate keys, likeliest first.
        let keys: [Secret]

        static func == (left: Picture, right: Picture) -> Bool { left.reference == right.reference }
        func hash(into hasher: inout Hasher) { hasher.combine(self.reference) }
    }

    let source: ProfileSource
    /// Whether the member itself sent it to this account; otherwise an admin relayed it.
    var isDirect: Bool
    var picture: Picture?
    /// For this account's own profile: the newest epoch to whose members it was sent.
    var sentEpoch: Epoch?
    let shown: AppState.Profile

    init(
        of key: PublicKey, source: ProfileSource, isDirect: Bool, picture: Picture? = nil, sentEpoch: Epoch? = nil
    ) {
        self.source = source
        self.isDirect = isDirect
        self.picture = picture
        self.sentEpoch = sentEpoch
        self.shown = AppState.Profile(publicKey: key, source)
    }

    static func memoName(_ groupID: GroupID, _ key: PublicKey) -> MemoName {
        MemoName(.groupProfile, groupID.bytes + key.bytes)
    }

    /// Splits a memo's key into group id and public key; nil if it is malformed.
    static func owner(_ name: MemoName) -> (groupID: GroupID, key: PublicKey)? {
        guard name.key.count > 32, let key = try? PublicKey(bytes: name.key.suffix(32)) else { return nil }
        return (GroupID(name.key.dropLast(32)), key)
    }
}

// MARK: - Stored form: JSON, version 1

extension GroupProfile {
    var memo: Secret {
        var json: JSONObject = ["v": 1, "event": .object(self.source.json), "direct": .bool(self.isDirect)]
        if let picture {
            json["imeta"] = .array(picture.reference.values.map { .string($0) })
            json["keys"] = .array(picture.keys.map { .string(Hex.encode($0.copyBytes())) })
        }
        if let sentEpoch { json["told"] = .string(String(sentEpoch)) }
        return Secret(JSONValue.object(json).json())
    }

    init?(of key: PublicKey, memo: Secret) {
        guard let json = JSONValue(memo: memo), let source = json["event"].flatMap({ ProfileSource($0) }),
            let isDirect = json["direct"]?.bool
        else { return nil }
        var picture: Picture?
        if let values = json["imeta"]?.array, let keys = json["keys"]?.array {
            picture = Picture(
                reference: Tag(values: values.compactMap(\.string)),
                keys: keys.compactMap { $0.string.flatMap { Hex.decode($0) }.map { Secret($0) } })
        }
        self.init(
            of: key, source: source, isDirect: isDirect, picture: picture,
            sentEpoch: json["told"]?.string.flatMap { Epoch($0) })
    }
}
