import Nostr
import PikaCore

/// Requests to the core, and waiting for their outcomes.
extension DaemonEngine {
    /// The result of a command.
    struct Done: Sendable {
        /// Events sent before the reply.
        var before: [DaemonEvent] = []
        var result: JSONObject?
        /// Events sent after the reply.
        var after: [DaemonEvent] = []
        /// Whether the reply goes to standard output, whichever client sent the command (wire §8.3).
        var repliesToStandard = false
        /// Computes a delayed reply; other commands run meanwhile.
        var later: (@Sendable () async -> Result<JSONObject, DaemonFailure>)?
        /// Where the reply is stored, for commands with an idempotency key.
        var place: ReplyPlace?
    }

    /// Dispatches an action and waits for its outcome. With a key the action is performed once. Returns nil on timeout,
    /// after which the core still completes the action.
    func outcome(of action: AppAction, key: String? = nil, within milliseconds: Int64? = nil) async -> ActionOutcome? {
        guard !self.isEnding else { return nil }
        self.requests += 1
        let scope = self.settings.scope
        let request = key.map { RequestID.once("\(scope)/\($0)") } ?? RequestID(rawValue: "\(scope)/\(self.requests)")
        let answer = Answer<ActionOutcome>()
        self.outcomes[request] = answer
        self.core.dispatch(action, request: request)
        return await answer.wait(milliseconds ?? self.settings.commandPatience, self.clock)
    }

    /// Stores values, and returns once they are durable.
    func store(_ values: [(key: String, value: JSONObject?)]) async {
        // After the end no result would arrive.
        guard !self.isEnding else { return }
        self.requests += 1
        let scope = self.settings.scope
        let request = RequestID(rawValue: "\(scope)/\(self.requests)")
        let answer = Answer<ActionOutcome>()
        self.outcomes[request] = answer
        let effects = values.map { entry in
            HandlerEffect(
                id: "\(scope)/\(entry.key)",
                operation: .putValue(
                    scope: scope, key: entry.key, value: entry.value.map { JSONValue.object($0).json() }))
        }
        self.core.perform(effects, request: request)
        _ = await answer.wait()
    }

    func stored(_ key: String) async -> JSONObject? {
        guard let bytes = try? await self.core.value(scope: self.settings.scope, key: key) else { return nil }
        return try? JSONValue(json: bytes).object
    }

    /// Waits until the state meets the condition; returns false on timeout.
    func wait(_ milliseconds: Int64, until isMet: @escaping @Sendable (AppState) -> Bool) async -> Bool {
        if isMet(self.state) { return true }
        self.requests += 1
        let id = self.requests
        let answer = Answer<Bool>()
        self.conditions[id] = (isMet, answer)
        let result = await answer.wait(milliseconds, self.clock) ?? false
        self.conditions[id] = nil
        return result
    }

    /// Waits until every event that the core has delivered so far has been sent to clients; returns false on timeout.
    func waitUntilTold(_ milliseconds: Int64 = 10_000) async -> Bool {
        let newest = await self.core.newestInboxID
        guard self.toldInboxID < newest else { return true }
        self.requests += 1
        let id = self.requests
        let answer = Answer<Bool>()
        self.tellings[id] = (newest, answer)
        let result = await answer.wait(milliseconds, self.clock) ?? false
        self.tellings[id] = nil
        return result
    }

    /// Notes that the core's event was sent to clients, or is held until a command's reply.
    func noteTold(_ inboxID: Int64) {
        self.toldInboxID = max(self.toldInboxID, inboxID)
        for (id, telling) in self.tellings where telling.inboxID <= self.toldInboxID {
            self.tellings[id] = nil
            telling.answer.give(true)
        }
    }

    // MARK: Lookups

    /// Returns the chat that a client's reference names, by ``AppState/chat(named:)``; nil if there is none.
    func chat(_ reference: String) throws(DaemonFailure) -> AppState.ChatSummary? {
        do throws(AppCoreError) { return try self.state.chat(named: reference) } catch {
            throw DaemonFailure(.badGroupID, error.message)
        }
    }

    /// Returns a chat that this account is a member of.
    func group(_ reference: String) throws(DaemonFailure) -> DaemonGroup {
        guard let chat = try self.chat(reference), chat.isActive else {
            throw DaemonFailure(.badGroupID, "no group has the nostr_group_id \(reference)")
        }
        return DaemonGroup(chat)
    }

    /// Returns nil for an unknown reference and for an ambiguous one.
    func groupIfThere(_ reference: String) -> DaemonGroup? { try? self.group(reference) }

    func eventID(_ text: String, _ message: String = "event_id must be hex") throws(DaemonFailure) -> EventID {
        do { return try EventID(hex: text.filter { !$0.isWhitespace }.lowercased()) } catch {
            throw DaemonFailure(.badEventID, message)
        }
    }

    func publicKey(_ text: String) throws(DaemonFailure) -> PublicKey {
        do { return try PublicKey(parsing: text.filter { !$0.isWhitespace }) } catch {
            throw DaemonFailure(.badPublicKey, "invalid peer_pubkey: \(error.message)")
        }
    }

    /// Returns the keys without duplicates, in order.
    func publicKeys(_ texts: [String]) throws(DaemonFailure) -> [PublicKey] {
        guard !texts.isEmpty else { throw DaemonFailure(.badRequest, "peer_pubkeys must not be empty") }
        var keys: [PublicKey] = []
        for text in texts {
            let key = try self.publicKey(text)
            if !keys.contains(key) { keys.append(key) }
        }
        return keys
    }
}
