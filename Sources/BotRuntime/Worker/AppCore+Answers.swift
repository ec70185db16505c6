import Nostr
import PikaCore

extension AppCore {
    /// Dispatches an action and returns its outcome; nil if the core has ended.
    nonisolated func outcome(of action: AppAction, _ name: String) async -> ActionOutcome? {
        let request = RequestID(rawValue: name)
        let updates = self.updates()
        self.dispatch(action, request: request)
        for await case .finished(_, request, let outcome) in updates { return outcome }
        return nil
    }

    /// Returns the status of a running worker for operators.
    func statusForOperators() async -> JSONValue {
        let storms = await self.vitals().map(Self.storms) ?? []
        let state = self.state
        let relays = state.relays.map { relay in
            JSONValue.object([
                "url": .string(relay.url.description), "connected": .bool(relay.connection == .connected),
                "caughtUp": .bool(relay.isCaughtUp),
            ])
        }
        return .object([
            "pubkey": .string(self.account.hex), "ready": .bool(state.isReady), "relays": .array(relays),
            "chats": .integer(Int64(state.chatList.count)), "outbox": .integer(Int64(state.outbox.pending)),
            "rollbackStorms": .array(storms),
            "haltedGroups": .array(state.chatList.compactMap(Self.haltedGroup)),
            "quarantine": .array(self.quarantine.map(\.summary)),
        ])
    }

    /// Describes a group of the second generation whose history the account cannot follow; nil for all others.
    private static func haltedGroup(_ chat: AppState.ChatSummary) -> JSONValue? {
        guard let halt = GroupHalt(chat.convergence) else { return nil }
        var group: JSONObject = ["chat": .string(chat.chatID.rawValue), "state": .string(halt.rawValue)]
        switch chat.convergence {
        case .blocked(let reason)?, .unrecoverable(let reason)?: group["reason"] = .string(reason)
        default: break
        }
        return .object(group)
    }

    private static func storms(_ vitals: CoreVitals) -> [JSONValue] {
        vitals.rollbackStorms.map { storm in
            [
                "chat": .string(storm.chatID.rawValue), "committer": .string(storm.tally.committer.npub),
                "role": .string(storm.tally.role.rawValue), "count": .integer(Int64(storm.tally.count)),
                "age": .integer(max(0, vitals.takenAt.seconds(since: storm.tally.lastAt))),
            ]
        }
    }
}
