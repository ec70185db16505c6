import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

extension ReducerWorld {
    /// Registers a device with a push server whose relay list is on the world's relay.
    mutating func register(
        _ index: Int, with server: KeyPair, token: [UInt8], platform: PushRegistration.Platform = .fcm
    ) {
        let registration = PushRegistration(
            server: server.publicKey, relay: Self.relay, platform: platform, token: token)
        self.act(index, .registerPushToken(registration), "register")
        #expect(self[index].outcomes["register"] == .done(chatID: nil))
        self.settle()
    }

    /// Publishes the list of a server's inbox relays.
    @discardableResult
    mutating func postInbox(of server: KeyPair, _ relays: [RelayURL] = [ReducerWorld.relay]) -> Event {
        self.post(.inboxRelays, by: server, "", tags: relays.map { Nostr.Tag("relay", $0.string) })
    }

    /// The push tokens that an account knows for the leaves of another account, in its only group or in the given one.
    func pushEntries(_ index: Int, of peer: Int, in groupID: GroupID? = nil) -> [PushEntry] {
        guard let groupID = groupID ?? self[index].group?.groupID else { return [] }
        return self[index].model.notifications.tokens[groupID].values.filter { $0.member == self[peer].key }
    }

    /// The device tokens of another account that an account knows, as their server reads them.
    func devices(
        _ index: Int, of peer: Int, openedBy server: KeyPair, in groupID: GroupID? = nil
    ) throws -> [[UInt8]] {
        try self.pushEntries(index, of: peer, in: groupID).flatMap(\.routes).map {
            try $0.token.open(by: server).secret.copyBytes()
        }
    }

    /// Sends an inner event of any content.
    mutating func send(_ index: Int, _ kind: Kind, _ tags: [[String]], content: String = "") {
        let message = OutgoingMessage(
            kind: kind, content: content, tags: tags.map { Nostr.Tag(values: $0) })
        self.act(index, .sendMessage(chatID: self[index].chatID, message), "push")
        #expect(self[index].outcomes["push"]?.failure == nil)
        self.settle()
    }

    /// The strings of a `token` tag with a token that nobody can read.
    static func tokenTag(_ byte: UInt8, _ more: String...) throws -> [String] {
        let token = try PushToken(bytes: [UInt8](repeating: byte, count: PushToken.count))
        return ["token", token.base64, String(repeating: "4f", count: 32), self.relay.string] + more
    }

    /// The stored inner events of a kind.
    func messages(_ index: Int, _ kind: Kind) -> [StoredMessage] {
        self[index].durable.messages.filter { $0.rumor.kind == kind }
    }

    /// The leaf of an account in the first account's group.
    func leaf(of index: Int) -> LeafIndex? {
        self[0].group?.identities.first { $0.value == self[index].key }?.key
    }

    /// The number of refused token events.
    func refusedPushEvents(_ index: Int) -> Int {
        self[index].notes.count { if case .refused("bad_push_token", _) = $0 { true } else { false } }
    }

    /// The device tokens of each request on the relay, as the server reads them.
    func requestedDevices(by server: KeyPair) throws -> [Set<[UInt8]>] {
        let wraps = self.relayed.filter {
            $0.kind == .giftWrap && $0.tags.contains(.user(server.publicKey))
        }
        return try wraps.map { wrap in
            let (sender, rumor, _) = try GiftWrap.unwrap(wrap, by: server)
            #expect(!self.accounts.map(\.key).contains(sender))
            return Set(try PushNotifications.read(rumor).map { try $0.open(by: server).secret.copyBytes() })
        }
    }
}
