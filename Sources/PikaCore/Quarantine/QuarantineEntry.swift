public import Nostr

/// Something that is set aside because processes have died of it.
public struct QuarantineEntry: Hashable, Sendable {
    public let subject: CrashSubject
    /// The group, relay or kind of sender that it came from.
    public let scope: CrashSubject?
    public let stage: CrashStage
    public internal(set) var deaths: Int
    /// Unix seconds when it was set aside.
    public let since: Int64
    /// The event as it came, once it has come again; nil until then, or if it is too large to be kept.
    public internal(set) var content: [UInt8]?
    /// The id that a frame claims to be of; not verified.
    public internal(set) var claimedID: String?
    /// Whether an operator has released it, which takes effect at the next start.
    public internal(set) var isReleased = false

    /// Content beyond this is not kept: it is read from relays again.
    static let maximumContent = 65_536

    /// A stored list is not larger.
    public static let maximumListBytes = 16 << 20

    /// Reads a stored list; entries that cannot be read are left out.
    public static func list(_ bytes: [UInt8]) -> [QuarantineEntry] { QuarantineList.entries(bytes) }

    /// Whether it concerns the event with such an id, or the beginning of one.
    public func matches(eventPrefix prefix: String) -> Bool {
        (self.subject.kind == .event && self.subject.name.hasPrefix(prefix))
            || self.claimedID?.hasPrefix(prefix) == true
    }
}

// MARK: Stored form

extension QuarantineEntry {
    var json: JSONValue {
        [
            "subject": .string(self.subject.description), "scope": self.scope.map { .string($0.description) } ?? .null,
            "stage": .string(self.stage.rawValue), "deaths": .integer(Int64(self.deaths)),
            "since": .integer(self.since),
            "content": self.content.map { .string(String(decoding: $0, as: UTF8.self)) } ?? .null,
            "claimed": self.claimedID.map { .string($0) } ?? .null, "released": .bool(self.isReleased),
        ]
    }

    init?(_ json: JSONValue) {
        guard let subject = json["subject"]?.string.flatMap({ CrashSubject($0) }),
            let stage = json["stage"]?.string.flatMap(CrashStage.init), let deaths = json["deaths"]?.integer,
            let since = json["since"]?.integer
        else { return nil }
        self.init(
            subject: subject, scope: json["scope"]?.string.flatMap { CrashSubject($0) }, stage: stage,
            deaths: Int(clamping: deaths), since: since, content: json["content"]?.string.map { Array($0.utf8) },
            claimedID: json["claimed"]?.string, isReleased: json["released"]?.bool ?? false)
    }

    /// What operators are shown.
    public var summary: JSONValue {
        [
            "subject": .string(self.subject.description), "scope": self.scope.map { .string($0.description) } ?? .null,
            "stage": .string(self.stage.rawValue), "deaths": .integer(Int64(self.deaths)),
            "since": .integer(self.since), "event": self.claimedID.map { .string($0) } ?? .null,
            "released": .bool(self.isReleased),
        ]
    }
}

/// The list of them as it is stored: JSON, version 1.
enum QuarantineList {
    /// More are not kept: the oldest goes, and is found again after two deaths.
    static let maximumCount = 64

    static func bytes(_ entries: [QuarantineEntry]) -> [UInt8] {
        JSONValue.object(["v": 1, "entries": .array(entries.map(\.json))]).json()
    }

    /// Entries that cannot be read are left out.
    static func entries(_ bytes: [UInt8]) -> [QuarantineEntry] {
        guard let json = try? JSONValue(json: bytes), json["v"]?.integer == 1 else { return [] }
        return (json["entries"]?.array ?? []).prefix(Self.maximumCount).compactMap { QuarantineEntry($0) }
    }
}
