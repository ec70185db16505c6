import BotDispatch
import BotKit
import Nostr

/// The lines that a worker writes to standard output for its supervisor: one JSON object per line, never with a secret.
///
/// Status lines are `{"status":"starting"}`, `{"status":"ready","pubkey":…}` and `{"status":"draining"}`. Event lines
/// have `event` (`joined`, `message`, `commit`, `call`, `withdrawn`, `restored`, `feed`, `answer` or `call_answer`), `chat`, and by
/// kind `id`, `from`, `kind`, `epoch`, `type`, `bot` and `content`. Keys and ids are cut to eight digits.
struct WorkerLines: Sendable {
    private struct Line {
        var status: String?
        var pubkey: String?
        var event: String?
        var chat: String?
        var id: String?
        var from: String?
        var kind: UInt16?
        var epoch: UInt64?
        var epochBefore: UInt64?
        var type: String?
        var bot: String?
        var content: String?

        /// The members that are present, in the order of their names.
        var json: JSONObject {
            var json = JSONObject()
            json["bot"] = bot.map(JSONValue.string)
            json["chat"] = chat.map(JSONValue.string)
            json["content"] = content.map(JSONValue.string)
            json["epoch"] = epoch.map { .integer(Int64(clamping: $0)) }
            json["epochBefore"] = epochBefore.map { .integer(Int64(clamping: $0)) }
            json["event"] = event.map(JSONValue.string)
            json["from"] = from.map(JSONValue.string)
            json["id"] = id.map(JSONValue.string)
            json["kind"] = kind.map { .integer(Int64($0)) }
            json["pubkey"] = pubkey.map(JSONValue.string)
            json["status"] = status.map(JSONValue.string)
            json["type"] = type.map(JSONValue.string)
            return json
        }
    }

    private static let longestContent = 200

    let showsContent: Bool
    let write: @Sendable (String) -> Void

    func starting() { write(Line(status: "starting")) }
    func ready(_ account: PublicKey) { write(Line(status: "ready", pubkey: account.hex)) }
    func draining() { write(Line(status: "draining")) }

    func observe(_ observation: BotDispatcher.Observation) {
        switch observation {
        case .received(let event): received(event)
        case .answered(let trigger, let bot, let effects):
            for effect in effects { answered(trigger, bot, effect.operation) }
        }
    }

    private func received(_ event: CoreEvent) {
        var line = Line(chat: short(event.chatID.rawValue), id: short(event.shownID))
        switch event.content {
        case .message(let message):
            line.event = "message"
            line.from = short(message.sender.hex)
            line.kind = message.kind.rawValue
            line.epoch = message.epoch
            line.content = shown(message.content)
        case .commit(let commit):
            line.event = "commit"
            line.from = short(commit.committer.hex)
            line.epochBefore = commit.epochBefore
            line.epoch = commit.epochAfter
        case .proposal(let proposal):
            line.event = "proposal"
            line.from = short(proposal.sender.hex)
            line.type = proposal.change.name
            line.epoch = proposal.epoch
        case .call(let call):
            line.event = "call"
            line.from = short(call.sender.hex)
            line.type = call.signal.type
            line.epoch = call.epoch
        case .joined(let join):
            line.event = "joined"
            line.id = nil
            line.from = short(join.inviter.hex)
            line.epoch = join.epoch
            line.content = shown(join.name)
        case .withdrawn(let withdrawn):
            line.event = withdrawn.isRestored ? "restored" : "withdrawn"
            line.from = short(withdrawn.sender.hex)
            line.kind = withdrawn.kind.rawValue
            line.epoch = withdrawn.epoch
        case .outcome(let outcome):
            line.event = "outcome"
            line.id = outcome.result.messageID.map { short($0.hex) }
            line.type = "\(outcome.kind) \(outcome.result.name)"
        case .feed(let item):
            line.event = "feed"
            line.chat = nil
            line.from = item.feed
            line.content = item.text.flatMap(shown)
        }
        write(line)
    }

    private func answered(_ trigger: BotTrigger, _ bot: String, _ operation: HandlerEffect.Operation) {
        let event = trigger.event
        var line = Line(
            event: "answer", chat: event.map { short($0.chatID.rawValue) }, id: event.map { short($0.shownID) },
            bot: bot)
        switch operation {
        case .send(let chatID, let message):
            line.chat = short(chatID.rawValue)
            line.kind = message.kind.rawValue
            line.content = shown(message.content)
        case .dispatch(.acceptCall):
            line.event = "call_answer"
            line.type = "call.accept"
        case .dispatch(.rejectCall(_, _, let reason)):
            line.event = "call_answer"
            line.type = "call.reject"
            line.content = shown(reason)
        case .dispatch(.endCall(_, _, let reason)):
            line.event = "call_answer"
            line.type = "call.end"
            line.content = shown(reason)
        case .dispatch, .putValue: return
        }
        write(line)
    }

    private func shown(_ text: String) -> String? {
        guard showsContent else { return nil }
        return text.count > Self.longestContent ? "\(text.prefix(Self.longestContent))…" : text
    }

    private func short(_ hex: String) -> String { String(hex.prefix(8)) }

    private func write(_ line: Line) {
        write(String(decoding: JSONValue.object(line.json).json(), as: UTF8.self))
    }
}

extension CoreEvent {
    /// The id that people know the event by: a withdrawal's is that of its message.
    fileprivate var shownID: String {
        if case .withdrawn(let withdrawn) = content { withdrawn.id.hex } else { inputID }
    }
}
