import Nostr
import PikaCore

extension AppCore {
    /// Returns when everything that was enqueued before is taken in; false if the core has ended.
    nonisolated func takesInputs(_ name: String) async -> Bool {
        let request = RequestID(rawValue: name)
        let updates = self.updates()
        // The core takes inputs in order: once this harmless one is answered, so are those before it.
        self.dispatch(.clearToast, request: request)
        for await case .finished(_, request, _) in updates { return true }
        return false
    }

    /// What an operator is shown of a running worker.
    func statusForOperators() -> JSONValue {
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
        ])
    }
}
