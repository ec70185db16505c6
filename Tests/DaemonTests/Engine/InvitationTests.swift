import BotTesting
import Nostr
import PikaCore
import Testing

@testable import Daemon

@Suite struct InvitationTests {
    /// - Returns: the inviter, the chat, and the group's nostrGroupID.
    private static func invite(
        _ daemon: DaemonLab
    ) async throws -> (alice: LabMember, chat: ChatID, nostrGroupID: String) {
        let alice = try await daemon.lab.member("alice")
        let chat = try await alice.create("Lab", inviting: [daemon.account])
        return (alice, chat, try #require(try await alice.summary(of: chat)).nostrGroupID)
    }

    @Test func acceptsInvitationsByEitherID() async throws {
        for field in ["wrapper_event_id", "welcome_event_id"] {
            let daemon = try await DaemonLab.make(seed: 1)
            let (alice, chat, nostrGroupID) = try await Self.invite(daemon)
            try await alice.say("before", in: chat)
            let received = try #require(daemon.events("welcome_received").first)
            #expect(received["from_pubkey"]?.string == alice.publicKey.hex && received["group_name"] == "Lab")
            #expect(received["nostr_group_id"]?.string == nostrGroupID)
            let listed = try await daemon.result("list_pending_welcomes")["welcomes"]?.array?.first?.object
            #expect(listed?.members.allSatisfy { received[$0.name] == $0.value } == true && listed?.members.count == 5)
            let id = try #require(received[field])
            let first = daemon.lines.count
            let accepted = try await daemon.result("accept_welcome", ["wrapper_event_id": id])
            #expect(accepted["nostr_group_id"]?.string == nostrGroupID)
            #expect(accepted["mls_group_id"]?.chatID == chat)
            #expect(daemon.types(from: first) == ["message_received", "ok", "group_joined"])
            #expect(daemon.lines[first]["content"] == "before")
            #expect(daemon.lines.last?["member_count"] == 2)
            #expect(daemon.account.store.inbox.isEmpty)
            #expect(try await daemon.result("list_pending_welcomes") == ["welcomes": []])
            #expect(try await daemon.failure("accept_welcome", ["wrapper_event_id": id]) == "not_found")
        }
    }

    @Test func acceptsInvitationsAutomatically() async throws {
        let daemon = try await DaemonLab.make(seed: 2, acceptsWelcomes: true)
        let (alice, chat, _) = try await Self.invite(daemon)
        #expect(daemon.types(from: 1) == ["welcome_received", "ok", "group_joined"])
        #expect(daemon.lines[2]["request_id"] == "auto-accept")
        try await alice.say("hi", in: chat)
        #expect(daemon.events("message_received").map { $0["content"] } == ["hi"])
    }

    @Test func announcesInvitationsAfterACrash() async throws {
        let daemon = try await DaemonLab.make(seed: 3, acceptsWelcomes: true)
        daemon.account.crash()
        let (_, _, nostrGroupID) = try await Self.invite(daemon)
        try await daemon.account.restart()
        #expect(daemon.events("group_joined").map { $0["nostr_group_id"]?.string } == [nostrGroupID])
    }

    @Test func ignoresPeersThatAreNotAllowed() async throws {
        let lab = try GroupLab(seed: 4)
        let alice = try await lab.member("alice")
        let mallory = try await lab.member("mallory")
        let daemon = try await DaemonLab.make(seed: 4, allowed: [alice.publicKey], lab: lab)
        _ = try await mallory.create("trap", inviting: [daemon.account])
        #expect(daemon.types() == ["ready"])
        #expect(try await daemon.result("list_pending_welcomes") == ["welcomes": []])
        let wrapper = try #require(await daemon.account.core.state.invites.first?.wrapper)
        #expect(
            try await daemon.failure("accept_welcome", ["wrapper_event_id": .string(wrapper.hex)]) == "not_found")
        let chat = try await alice.create("Lab", inviting: [daemon.account, mallory])
        let id = try #require(daemon.events("welcome_received").last?["wrapper_event_id"])
        _ = try await daemon.result("accept_welcome", ["wrapper_event_id": id])
        try await mallory.say("psst", in: chat)
        try await alice.say("hello", in: chat)
        #expect(daemon.events("message_received").map { $0["content"] } == ["hello"])
        #expect(daemon.account.store.inbox.isEmpty)
    }
}
