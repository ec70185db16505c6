import MLS
import Nostr
import Testing

@testable import PikaCore
@testable import pikabot

/// The members of results, in the order of docs/command-line.md.
@Suite struct ResultJSONTests {
    private static let hash = String(repeating: "ab", count: 32)

    private func key() throws -> PublicKey { try PublicKey(hex: ClientCommandTests.hex) }

    @Test func encodesMessagesAndFiles() throws {
        let file = Tag(
            "imeta", "url https://b.example/x", "m image/png", "filename a b.png", "dim 3x4", "x \(Self.hash)",
            "n 000102030405060708090a0b", "v mip04-v2")
        let plain = Tag(
            "imeta", "url https://b.example/y", "m text/plain", "filename c.txt", "x \(Self.hash)",
            "n 000102030405060708090a0b", "v mip04-v2")
        let rumor = UnsignedEvent(
            pubkey: try key(), createdAt: 7, kind: .chatMessage, tags: [file, plain, Tag("imeta", "url x")],
            content: "hi")
        let media = """
            [{"url":"https://b.example/x","mime_type":"image/png","filename":"a b.png","original_hash_hex":"\(Self.hash)",\
            "nonce_hex":"000102030405060708090a0b","scheme_version":"mip04-v2","width":3,"height":4},\
            {"url":"https://b.example/y","mime_type":"text/plain","filename":"c.txt","original_hash_hex":"\(Self.hash)",\
            "nonce_hex":"000102030405060708090a0b","scheme_version":"mip04-v2"}]
            """
        let stored = StoredMessage(
            groupID: [1], rumor: rumor, id: rumor.id, wrapper: try EventID(hex: Self.hash), epoch: 1, isOwn: false)
        #expect(
            ResultJSON.message(stored).jsonText == """
                {"message_id":"\(rumor.id.hex)","from_pubkey":"\(ClientCommandTests.hex)","content":"hi","created_at":7,\
                "media":\(media)}
                """)
        let event = MessageEvent(
            id: rumor.id, sender: rumor.pubkey, kind: rumor.kind, content: "hi", tags: [], createdAt: 7, epoch: 1)
        #expect(
            ResultJSON.listened(event, in: "aa").jsonText == """
                {"type":"message","nostr_group_id":"aa","from_pubkey":"\(ClientCommandTests.hex)","content":"hi",\
                "created_at":7,"message_id":"\(rumor.id.hex)","media":[]}
                """)
    }

    @Test(arguments: [false, true])
    func encodesWithdrawals(isRestored: Bool) throws {
        let withdrawn = WithdrawnEvent(
            id: try EventID(hex: Self.hash), sender: try key(), kind: .chatMessage, epoch: 1, wrapper: nil,
            isRestored: isRestored)
        #expect(
            ResultJSON.listened(withdrawn, in: "aa").jsonText == """
                {"type":"\(isRestored ? "restored" : "withdrawn")","nostr_group_id":"aa",\
                "from_pubkey":"\(ClientCommandTests.hex)","message_id":"\(Self.hash)"}
                """)
    }

    @Test func encodesInvitations() throws {
        let id = try EventID(hex: Self.hash)
        let group = AppState.InvitedGroup(
            name: "Club", description: "", memberCount: 2, chatID: "bb", nostrGroupID: "aa")
        let invite = AppState.InviteSummary(wrapper: id, welcome: id, inviter: try key(), group: group)
        #expect(
            ResultJSON.welcome(invite).jsonText == """
                {"wrapper_event_id":"\(Self.hash)","welcome_event_id":"\(Self.hash)",\
                "from_pubkey":"\(ClientCommandTests.hex)","nostr_group_id":"aa","group_name":"Club"}
                """)
        #expect(
            ResultJSON.listened(invite).jsonText == """
                {"type":"welcome","wrapper_event_id":"\(Self.hash)","from_pubkey":"\(ClientCommandTests.hex)",\
                "nostr_group_id":"aa","group_name":"Club"}
                """)
    }

    @Test func readsTextAndHypernotes() {
        let kinds: [Kind] = [
            .chatMessage, .hypernote, .reaction, .metadata, .hypernoteResponse, 20067, .callSignal,
        ]
        #expect(kinds.filter { $0.isReadable } == [.chatMessage, .hypernote])
    }
}
