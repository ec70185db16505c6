import Crypto
import Nostr

/// Replies to the newest 1,000 commands with an idempotency key: `reply/HASH` holds the request and its reply,
/// `reply-slot/N` the key of the Nth, modulo 1,000. Pure.
///
/// The core deduplicates the action itself (``PikaCore/RequestID/once(_:)``); this log stores the reply.
struct ReplyLog: Sendable {
    enum Decision: Sendable {
        /// The key was used for the same command, whose reply is this.
        case reply(JSONObject?)
        /// The command is executed, and its reply stored here.
        case execute(ReplyPlace)
    }

    /// A slot for a new key.
    struct Slot: Sendable {
        let key: String
        fileprivate let count: Int64
    }

    /// Key of the record that stores the number of keys so far.
    static let key = "replies"
    static let capacity: Int64 = 1000

    /// Number of keys so far.
    private var count: Int64 = 0

    mutating func restore(_ stored: JSONObject) { self.count = stored["count"]?.integer ?? 0 }

    /// Decides on a command whose key was used before.
    ///
    /// - Parameter record: the record of the key.
    static func decide(_ place: ReplyPlace, _ record: JSONObject) throws(DaemonFailure) -> Decision {
        guard record["of"]?.string == place.fingerprint else {
            throw DaemonFailure(.keyReused, "the idempotency_key was used for another command")
        }
        if record["done"]?.bool == true { return .reply(record["result"]?.object) }
        var place = place
        place.cursor = record["cursor"]?.integer
        return .execute(place)
    }

    /// Reserves the slot for a new key.
    mutating func reserve() -> Slot {
        let key = "reply-slot/\(self.count % Self.capacity)"
        self.count += 1
        return Slot(key: key, count: self.count)
    }

    /// Returns the values of a new key.
    ///
    /// - Parameter evicted: the record that the slot held.
    static func entries(_ place: ReplyPlace, in slot: Slot, evicting evicted: JSONObject?) -> [EventLog.Entry] {
        var entries: [EventLog.Entry] = [
            (place.name, ["of": .string(place.fingerprint)]), (slot.key, ["name": .string(place.name)]),
            (Self.key, ["count": .integer(slot.count)]),
        ]
        if let old = evicted?["name"]?.string { entries.append((old, nil)) }
        return entries
    }
}

/// The storage key of the reply to a command, and the command's fingerprint.
struct ReplyPlace: Sendable {
    let name: String
    let fingerprint: String
    /// Cursor of the command's first event, if its events were recorded before.
    var cursor: Int64?

    init(key: String, of request: DaemonRequest) {
        self.name = "reply/" + Self.hash(key)
        self.fingerprint = Self.hash(request.fingerprintText)
    }

    /// Returns the value that stores the reply.
    func entry(_ result: JSONObject?) -> EventLog.Entry {
        var record: JSONObject = ["of": .string(self.fingerprint), "done": true]
        record["result"] = result.map(JSONValue.object)
        return (self.name, record)
    }

    private static func hash(_ text: String) -> String { Hex.encode(Array(SHA256.hash(data: Array(text.utf8)))) }
}
