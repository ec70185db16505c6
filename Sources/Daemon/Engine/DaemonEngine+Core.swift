import Nostr
import PikaCore

/// Asking the core, and waiting for it.
extension DaemonEngine {
    /// What a command has led to.
    struct Done: Sendable {
        /// Told before the reply.
        var before: [DaemonEvent] = []
        var result: JSONObject?
        /// Told after the reply.
        var after: [DaemonEvent] = []
        /// Whether the reply goes to standard output, whoever asked (wire §8.3).
        var repliesToStandard = false
        /// What the reply waits for, while other commands go on.
        var later: (@Sendable () async -> Result<JSONObject, DaemonFailure>)?
        /// Where the reply is kept, for commands with an idempotency key.
        var place: ReplyPlace?
    }

    /// Dispatches an action and waits for its outcome; under a key it is done once. Nil when time is up: the core goes
    /// on with it all the same.
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

    /// Makes values durable; returns when they are.
    func store(_ values: [(key: String, value: JSONObject?)]) async {
        // Nobody would hear the answer.
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

    /// Waits until the state is as wanted; false when time is up.
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

    /// Waits until everything that the core has put before its handlers so far is told; false when time is up.
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

    /// The core's event was told, or put aside.
    func noteTold(_ inboxID: Int64) {
        self.toldInboxID = max(self.toldInboxID, inboxID)
        for (id, telling) in self.tellings where telling.inboxID <= self.toldInboxID {
            self.tellings[id] = nil
            telling.answer.give(true)
        }
    }

    // MARK: Words

    /// The chat that a client's reference means, as ``AppState/chat(named:)``; nil if it means none.
    func chat(_ reference: String) throws(DaemonFailure) -> AppState.ChatSummary? {
        do throws(AppCoreError) { return try self.state.chat(named: reference) } catch {
            throw DaemonFailure(.badGroupID, error.message)
        }
    }

    /// A chat that this account is in.
    func group(_ reference: String) throws(DaemonFailure) -> DaemonGroup {
        guard let chat = try self.chat(reference), chat.isActive else {
            throw DaemonFailure(.badGroupID, "no group has the nostr_group_id \(reference)")
        }
        return DaemonGroup(chat)
    }

    /// Nil for an ambiguous reference too.
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

    /// Each once, in their order.
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
