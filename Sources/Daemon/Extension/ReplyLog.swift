import Crypto
import Nostr

/// Replies to the newest 1,000 commands with an idempotency key: `reply/HASH` holds the request and its reply,
/// `reply-slot/N` the key of the Nth, modulo 1,000.
///
/// The core deduplicates the action itself (``PikaCore/RequestID/once(_:)``); this log stores the reply.
struct ReplyLog: Sendable {
    static let key = "replies"
    static let capacity: Int64 = 1000

    /// Number of keys so far.
    var count: Int64 = 0

    init() {}

    init(_ json: JSONObject) {
        self.count = json["count"]?.integer ?? 0
    }
}

/// Where the reply to a command is stored, and the command's fingerprint.
struct ReplyPlace: Sendable {
    let name: String
    let fingerprint: String
    /// Cursor of the command's first event, if its events were recorded before.
    var cursor: Int64?
}

extension DaemonEngine {
    /// Executes a command unless its key was used before; then returns the stored reply.
    ///
    /// Errors are not stored: a repeated command is tried again, but does not send again what was sent before.
    func performOnce(_ request: DaemonRequest, for client: DaemonClient) async throws(DaemonFailure) -> Done {
        try self.authorize(request.command, client)
        try await self.passGate(request, client)
        guard let key = request.idempotencyKey, request.command.isMutating,
            self.sessions[client.id]?.isExtended == true
        else { return try await self.perform(request.command, key: nil, client) }
        let name = "reply/" + Self.hash(key)
        let fingerprint = Self.hash(request.fingerprintText)
        var place = ReplyPlace(name: name, fingerprint: fingerprint)
        if let known = await self.stored(name) {
            guard known["of"]?.string == fingerprint else {
                throw DaemonFailure(.keyReused, "the idempotency_key was used for another command")
            }
            if known["done"]?.bool == true { return Done(result: known["result"]?.object) }
            place.cursor = known["cursor"]?.integer
        } else {
            await self.noteKey(name, fingerprint)
        }
        var done = try await self.perform(request.command, key: key, client)
        done.place = place
        if let later = done.later {
            done.later = { [place] in
                let outcome = await later()
                if case .success(let result) = outcome { await self.keepReply(result, at: place) }
                return outcome
            }
        }
        return done
    }

    /// Stores the reply after the command's events were sent. If the process ends earlier, the repeated command sends
    /// them.
    func keepReply(_ result: JSONObject?, at place: ReplyPlace) async {
        var record: JSONObject = ["of": .string(place.fingerprint), "done": true]
        record["result"] = result.map(JSONValue.object)
        await self.store([(place.name, record)])
    }

    private func noteKey(_ name: String, _ fingerprint: String) async {
        let slot = "reply-slot/\(self.replies.count % ReplyLog.capacity)"
        self.replies.count += 1
        var values: [(key: String, value: JSONObject?)] = [
            (name, ["of": .string(fingerprint)]), (slot, ["name": .string(name)]),
            (ReplyLog.key, ["count": .integer(self.replies.count)]),
        ]
        if let old = await self.stored(slot)?["name"]?.string { values.append((old, nil)) }
        await self.store(values)
    }

    static func hash(_ text: String) -> String { Hex.encode(Array(SHA256.hash(data: Array(text.utf8)))) }
}
