import Nostr

@testable import PikaCore

extension ReducerWorld {
    /// Puts an event of an account, or of another key, on the relay.
    @discardableResult
    mutating func post(
        _ kind: Kind, by key: KeyPair, _ content: String, tags: [Nostr.Tag] = [], at time: UnixTime = ReducerWorld.start
    ) -> Event {
        let event = UnsignedEvent(
            pubkey: key.publicKey, createdAt: time, kind: kind, tags: tags, content: content
        ).signed(by: key, using: &self.random)
        self.relayed.append(event)
        return event
    }

    /// The names of the first chat's members, by account, as one account shows them; nil if unknown.
    func names(_ index: Int) -> [String?] {
        let members = self[index].model.state.chatList.first?.allMembers ?? []
        return self.accounts.map { account in members.first { $0.publicKey == account.key }?.name }
    }

    /// The accounts of the due profile requests.
    func requestedProfiles(_ index: Int) -> [[PublicKey]] {
        self[index].due.compactMap { effect in
            if case .fetch(.profiles, let filters, _) = effect { filters.first?.authors } else { nil }
        }
    }

    /// The newest event of a kind that one account has published.
    func newest(_ kind: Kind, of index: Int) -> Event? {
        self.relayed.last { $0.kind == kind && $0.pubkey == self[index].key }
    }

    /// The number of stored memos of a kind.
    func memos(_ kind: MemoName.Kind, _ index: Int) -> Int {
        self[index].durable.state.memos.keys.count { $0.kind == kind }
    }
}
