import MLS
import Nostr

/// The known part of a person's public profile, with the time of the last fetch.
struct KnownProfile: Sendable, Hashable {
    /// The maximum size of other people's profiles as kept; longer content is reduced to the fields shown.
    static let maximumContentBytes = 4096

    /// The kind 0 event of the profile; nil if no relay had one.
    var source: ProfileSource?
    /// The time when relays were last asked.
    var fetchedAt: UnixTime
    /// Whether all of them answered at that time.
    var isComplete: Bool
    /// The fields shown to users.
    private(set) var shown: AppState.Profile

    init(of key: PublicKey, source: ProfileSource? = nil, fetchedAt: UnixTime, isComplete: Bool) {
        self.source = source
        self.fetchedAt = fetchedAt
        self.isComplete = isComplete
        self.shown = AppState.Profile(publicKey: key, source)
    }

    /// Whether the profile is due to be fetched again.
    func isDue(_ now: UnixTime) -> Bool {
        now.seconds(since: self.fetchedAt)
            >= (self.isComplete ? ProfileDirectory.lifetime : ProfileDirectory.partialLifetime)
    }
}

/// A profile as published: its content, and the event that it came from.
struct ProfileSource: Sendable, Hashable {
    let id: EventID
    let createdAt: UnixTime
    let content: String
    /// The tags of this account's own profile, which its next version keeps.
    let tags: [Tag]

    init(id: EventID, createdAt: UnixTime, content: String, tags: [Tag] = []) {
        self.id = id
        self.createdAt = createdAt
        self.content = content
        self.tags = tags
    }

    /// Reads another person's profile, reduced if it is too long.
    init(of event: Event) {
        self.init(id: event.id, createdAt: event.createdAt, content: Self.reduced(event.content))
    }

    /// Reads this account's own profile in full.
    init(own event: Event) {
        self.init(id: event.id, createdAt: event.createdAt, content: event.content, tags: event.tags)
    }

    /// Whether relays and clients keep this event rather than the other: the newer one, or within the same second the
    /// one with the lower id (NIP-01).
    func replaces(_ other: ProfileSource?) -> Bool {
        guard let other else { return true }
        return (self.createdAt, other.id) > (other.createdAt, self.id)
    }

    var metadata: ProfileMetadata? { try? ProfileMetadata(content: self.content) }

    /// Returns another person's content; if it is too long, only the fields that are shown.
    static func reduced(_ content: String) -> String {
        guard content.utf8.count > KnownProfile.maximumContentBytes else { return content }
        guard let metadata = try? ProfileMetadata(content: content) else { return "{}" }
        var reduced = ProfileMetadata()
        reduced.name = DisplayText.name(metadata.name)
        reduced.displayName = DisplayText.name(metadata.displayName)
        reduced.about = DisplayText.about(metadata.about)
        reduced.picture = DisplayText.address(metadata.picture)
        return reduced.content
    }
}

extension AppState.Profile {
    init(publicKey: PublicKey, _ source: ProfileSource?) {
        self.init(publicKey: publicKey)
        self.createdAt = source?.createdAt
        guard let metadata = source?.metadata else { return }
        self.name = DisplayText.name(metadata.name)
        self.displayName = DisplayText.name(metadata.displayName)
        self.about = DisplayText.about(metadata.about)
        self.picture = DisplayText.address(metadata.picture)
    }
}

// MARK: - Stored form: JSON, version 1

extension ProfileSource {
    var json: JSONObject {
        [
            "id": .string(self.id.hex), "created_at": .integer(self.createdAt.seconds),
            "content": .string(self.content),
            "tags": .array(self.tags.map { .array($0.values.map { .string($0) }) }),
        ]
    }

    init?(_ json: JSONValue) {
        guard let id = json["id"]?.string.flatMap({ try? EventID(hex: $0) }),
            let createdAt = json["created_at"]?.integer, let content = json["content"]?.string,
            let tags = json["tags"]?.array
        else { return nil }
        self.init(
            id: id, createdAt: UnixTime(createdAt), content: content,
            tags: tags.map { Tag(values: $0.array?.compactMap(\.string) ?? []) })
    }
}

extension KnownProfile {
    var memo: Secret {
        var json: JSONObject = [
            "v": 1, "fetched_at": .integer(self.fetchedAt.seconds), "complete": .bool(self.isComplete),
        ]
        if let source { json["event"] = .object(source.json) }
        return Secret(JSONValue.object(json).json())
    }

    init?(of key: PublicKey, memo: Secret) {
        guard let json = JSONValue(memo: memo), let fetchedAt = json["fetched_at"]?.integer,
            let isComplete = json["complete"]?.bool
        else { return nil }
        var source: ProfileSource?
        if let event = json["event"] {
            guard let read = ProfileSource(event) else { return nil }
            source = read
        }
        self.init(of: key, source: source, fetchedAt: UnixTime(fetchedAt), isComplete: isComplete)
    }
}
