package import Nostr

/// A subject that is quarantined because it crashed the process repeatedly.
package struct QuarantineEntry: Hashable, Sendable {
    package let subject: CrashSubject
    /// The group, relay or kind of sender that the subject came from.
    package let scope: CrashSubject?
    package let stage: CrashStage
    package internal(set) var deaths: Int
    /// The time when it was quarantined.
    package let since: UnixTime
    /// The event as received, once it was received again; nil until then, or if it is too large to store.
    package internal(set) var content: [UInt8]?
    /// The event id that a frame claims; not verified.
    package internal(set) var claimedID: String?
    /// Whether an operator has released it; takes effect at the next start.
    package internal(set) var isReleased = false

    /// Larger content is not stored: it is read from relays again.
    static let maximumContent = 65_536

    /// The maximum size of a stored list, in bytes.
    package static let maximumListBytes = 16 << 20

    /// Reads a stored list; unreadable entries are skipped.
    package static func list(_ bytes: [UInt8]) -> [QuarantineEntry] { QuarantineList.entries(bytes) }

    /// Whether the entry concerns the event with this id or id prefix.
    package func matches(eventPrefix prefix: String) -> Bool {
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
            "since": .integer(self.since.seconds),
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
            deaths: Int(clamping: deaths), since: UnixTime(since),
            content: json["content"]?.string.map { Array($0.utf8) },
            claimedID: json["claimed"]?.string, isReleased: json["released"]?.bool ?? false)
    }

    /// The fields shown to operators.
    package var summary: JSONValue {
        [
            "subject": .string(self.subject.description), "scope": self.scope.map { .string($0.description) } ?? .null,
            "stage": .string(self.stage.rawValue), "deaths": .integer(Int64(self.deaths)),
            "since": .integer(self.since.seconds), "event": self.claimedID.map { .string($0) } ?? .null,
            "released": .bool(self.isReleased),
        ]
    }
}

/// The quarantine list in its stored form: JSON, version 1.
enum QuarantineList {
    /// The maximum number of entries. Beyond it the oldest is dropped, and is quarantined again after two more crashes.
    static let maximumCount = 64

    static func bytes(_ entries: [QuarantineEntry]) -> [UInt8] {
        JSONValue.object(["v": 1, "entries": .array(entries.map(\.json))]).json()
    }

    /// Decodes a stored list; unreadable entries are skipped.
    static func entries(_ bytes: [UInt8]) -> [QuarantineEntry] {
        guard let json = try? JSONValue(json: bytes), json["v"]?.integer == 1 else { return [] }
        return (json["entries"]?.array ?? []).prefix(Self.maximumCount).compactMap { QuarantineEntry($0) }
    }
}
