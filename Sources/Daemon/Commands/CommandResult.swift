import Nostr
import PikaCore

/// The result of a command that succeeded.
struct CommandResult: Sendable {
    /// Events sent before the reply.
    var before: [DaemonEvent] = []
    /// Fields of the reply.
    var result: JSONObject?
    /// Events sent after the reply.
    var after: [DaemonEvent] = []
    /// Whether the reply goes to standard output, whichever client sent the command (docs/daemon.md).
    var repliesToStandard = false
    /// Computes a delayed reply; other commands run meanwhile.
    var later: (@Sendable () async -> Result<JSONObject, DaemonFailure>)?
    /// Whether the daemon ends after the reply.
    var endsDaemon = false
    /// The storage key of the reply, for commands with an idempotency key.
    var place: ReplyPlace?

    var events: [DaemonEvent] { self.before + self.after }

    /// Returns the result with the place of its reply; stores a delayed reply there once it is computed.
    func stored(at place: ReplyPlace, by requests: CoreRequests) -> CommandResult {
        var result = self
        result.place = place
        guard let later = self.later else { return result }
        result.later = {
            let outcome = await later()
            if case .success(let fields) = outcome { await requests.store([place.entry(fields)]) }
            return outcome
        }
        return result
    }

    static func messages(_ messages: [StoredMessage]) -> CommandResult {
        let list = messages.map { message -> JSONValue in
            [
                "message_id": .string(message.id.hex), "from_pubkey": .string(message.rumor.pubkey.hex),
                "content": .string(message.rumor.content), "created_at": .integer(message.rumor.createdAt.seconds),
            ]
        }
        return CommandResult(result: ["messages": .array(list)])
    }

    static func media(_ attachments: [MediaAttachment], wrapper: EventID, isBatch: Bool) -> CommandResult {
        let urls = attachments.map { JSONValue.string($0.url) }
        let hashes = attachments.map { JSONValue.string($0.hash.hex) }
        var result: JSONObject = ["event_id": .string(wrapper.hex)]
        if isBatch {
            result["uploaded_urls"] = .array(urls)
            result["original_hashes"] = .array(hashes)
        } else {
            result["uploaded_url"] = urls.first
            result["original_hash_hex"] = hashes.first
        }
        return CommandResult(result: result)
    }

    static func sent(_ id: EventID) -> CommandResult { CommandResult(result: ["event_id": .string(id.hex)]) }
}
