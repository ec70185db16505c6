import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import BotTesting
@testable import Daemon

/// Outcomes of commands as events, and the visible state in replies.
@Suite(.bounded) struct OutcomeTests {
    private struct Scene {
        let daemon: DaemonLab
        let bob: LabMember
        let chat: JSONValue

        var lab: GroupLab { self.daemon.lab }
        var group: JSONObject { ["nostr_group_id": self.chat] }

        /// The fields of each outcome.
        var outcomes: [JSONValue] { self.daemon.events("outcome") }
    }

    /// A daemon in a chat that it has created with Bob; its client wants outcomes.
    private static func scene(_ seed: UInt64) async throws -> Scene {
        let daemon = try await DaemonLab.make(seed: seed)
        let bob = try await daemon.lab.member("bob")
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        _ = try await daemon.result("hello", ["protocol": 2, "outcomes": true])
        return Scene(daemon: daemon, bob: bob, chat: try #require(made["nostr_group_id"]))
    }

    private static func key(_ seed: UInt64) -> PublicKey {
        var random = SplitMix64(seed: seed)
        return KeyPair.generate(using: &random).publicKey
    }

    @Test func sentMessageIsReportedOnce() async throws {
        let scene = try await Self.scene(1)
        var fields = scene.group
        fields["content"] = "hi"
        let sent = try await scene.daemon.result("send_message", fields)
        let outcome = try #require(scene.outcomes.first)
        #expect(outcome["action"] == sent["action"] && outcome["name"] == "send_message")
        #expect(outcome["result"] == "delivered" && outcome["message_id"] == sent["event_id"])
        #expect(outcome["relays"] == .array([.string(scene.lab.relay.string)]))
        #expect(outcome["nostr_group_id"] == scene.chat && outcome["cursor"]?.integer != nil)
        #expect(scene.outcomes.count == 1)
        #expect(scene.daemon.account.store.inbox.isEmpty)
    }

    @Test func partialActionNamesMissingPeers() async throws {
        let scene = try await Self.scene(2)
        let ghost = Self.key(9)
        let made = try await scene.daemon.result(
            "init_group",
            [
                "peer_pubkeys": .array([.string(scene.bob.publicKey.hex), .string(ghost.hex)]), "group_name": "new",
                "on_missing": "skip",
            ])
        let outcome = try #require(scene.outcomes.last)
        #expect(outcome["action"] == made["action"] && outcome["name"] == "create_group_chat")
        #expect(outcome["result"] == "partly_done")
        #expect(outcome["nostr_group_id"] == made["nostr_group_id"])
        #expect(outcome["mls_group_id"] == made["mls_group_id"])
        let left = outcome["left_out"]?.array
        #expect(left?.count == 1 && left?.first?["peer"]?.string == ghost.hex)
        #expect(left?.first?["error"] == "no_key_package" && left?.first?["verdict"] == "missing")
    }

    @Test func failedActionNamesReason() async throws {
        let scene = try await Self.scene(3)
        let ghost = Self.key(9)
        let reply = try await scene.daemon.command(
            "init_group", ["peer_pubkeys": .array([.string(ghost.hex)]), "group_name": "new"])
        #expect(reply?["code"] == "no_key_packages")
        let outcome = try #require(scene.outcomes.last)
        #expect(reply?["action"]?.string != nil && outcome["action"] == reply?["action"])
        #expect(outcome["result"] == "failed" && outcome["error"] == "no_key_package")
        #expect(outcome["reason"]?.string?.isEmpty == false && outcome["nostr_group_id"] == nil)
        #expect(outcome["left_out"]?.array?.first?["peer"]?.string == ghost.hex)
    }

    @Test func lateOutcomeFollowsTimeout() async throws {
        let scene = try await Self.scene(4)
        scene.lab.network.takeDown(scene.lab.relay)
        var fields = scene.group
        fields["content"] = "late"
        #expect(try await scene.daemon.command("send_message", fields) == nil)
        try await scene.lab.advance(by: .seconds(30))
        let refusal = try #require(scene.daemon.lines.last)
        #expect(refusal["code"] == "publish_failed" && scene.outcomes.isEmpty)
        scene.lab.network.bringUp(scene.lab.relay)
        try await scene.lab.advance(by: .seconds(120))
        #expect(scene.outcomes.map { $0["result"] } == ["delivered"])
        #expect(scene.outcomes.first?["action"] == refusal["action"])
    }

    @Test func outcomeArrivesAfterCrash() async throws {
        let scene = try await Self.scene(5)
        scene.lab.network.takeDown(scene.lab.relay)
        var fields = scene.group
        fields["content"] = "late"
        fields["idempotency_key"] = "one"
        #expect(try await scene.daemon.command("send_message", fields) == nil)
        scene.daemon.account.crash()
        scene.lab.network.bringUp(scene.lab.relay)
        try await scene.daemon.account.restart()
        try await scene.lab.advance(by: .seconds(120))
        #expect(Set(scene.outcomes.compactMap { $0["result"]?.string }) == ["delivered"])
        #expect(scene.outcomes.first?["action"] == "daemon/command-one")
        #expect(scene.bob.heard() == ["late"])
    }

    @Test func clientsWithoutOptionGetNone() async throws {
        let daemon = try await DaemonLab.make(seed: 6)
        let bob = try await daemon.lab.member("bob")
        _ = try await daemon.result("hello", ["protocol": 2])
        let made = try await daemon.result("init_group", ["peer_pubkey": .string(bob.publicKey.hex)])
        #expect(made["action"] == nil && daemon.events("outcome").isEmpty)
        #expect(try await daemon.failure("rename_group", ["nostr_group_id": "x", "name": "n"]) == "bad_group_id")
        #expect(daemon.lines.last?["action"] == nil)
    }

    @Test func commandChoosesForItself() async throws {
        let daemon = try await DaemonLab.make(seed: 11)
        let bob = try await daemon.lab.member("bob")
        _ = try await daemon.result("hello", ["protocol": 2])
        let made = try await daemon.result(
            "init_group", ["peer_pubkey": .string(bob.publicKey.hex), "outcome": true])
        #expect(made["action"]?.string != nil && daemon.events("outcome").count == 1)
        _ = try await daemon.result("hello", ["protocol": 2, "outcomes": true])
        let group = try #require(made["nostr_group_id"])
        let sent = try await daemon.result(
            "send_message", ["nostr_group_id": group, "content": "hi", "outcome": false])
        #expect(sent["action"] == nil && daemon.events("outcome").count == 1)
    }

    @Test func invalidCommandHasNoAction() async throws {
        let scene = try await Self.scene(7)
        let reply = try await scene.daemon.command("send_message", ["nostr_group_id": "x", "content": "hi"])
        #expect(reply?["code"] == "bad_group_id" && reply?["action"] == nil)
        #expect(scene.outcomes.isEmpty)
    }

    // MARK: The visible state

    @Test func listsMembersAdminsAndRelays() async throws {
        let scene = try await Self.scene(8)
        let own = JSONValue.string(scene.daemon.account.publicKey.hex)
        let listed = try await scene.daemon.result("list_members", scene.group)
        #expect(listed["me"]?["pubkey"] == own && listed["me"]?["is_admin"] == true)
        #expect(listed["others"]?.array?.map { $0["pubkey"]?.string } == [scene.bob.publicKey.hex])
        #expect(listed["members"]?.array?.count == 2 && listed["member_count"] == 2)
        #expect(listed["admins"]?.array?.contains(own) == true)
        #expect(listed["relays"] == .array([.string(scene.lab.relay.string)]))
        #expect(listed["proposals"] == .array([]))
    }

    @Test func showsCallWithFlags() async throws {
        let scene = try await Self.scene(9)
        #expect(try await scene.daemon.result("get_call")["call"] == nil)
        let session = CallSession(moqURL: "https://moq.example", broadcastBase: "pika/calls", tracks: [.audio])
        let chat = try #require(scene.chat.chatID)
        try await scene.bob.perform(.startCall(chatID: chat, session: session))
        let ringing = try await scene.daemon.result("get_call")["call"]
        #expect(ringing?["phase"] == "ringing" && ringing?["is_outgoing"] == false)
        #expect(ringing?["is_live"] == true && ringing?["should_auto_present_call_screen"] == true)
        #expect(ringing?["should_enable_proximity_lock"] == false)
        let id = try #require(ringing?["call_id"])
        let rejected = try await scene.daemon.result("reject_call", ["call_id": id])
        let outcome = try #require(scene.outcomes.last)
        #expect(outcome["name"] == "reject_call" && outcome["result"] == "delivered")
        #expect(outcome["action"] == rejected["action"])
        let ended = try await scene.daemon.result("get_call")["call"]
        #expect(ended?["phase"] == "ended" && ended?["reason"] == "declined" && ended?["is_live"] == false)
        #expect(ended?["should_auto_present_call_screen"] == false)
    }

    @Test func soleAdminLeavesWithSuccessor() async throws {
        let daemon = try await DaemonLab.make(seed: 10)
        let bob = try await daemon.lab.member("bob")
        let carol = try await daemon.lab.member("carol")
        let peers = JSONValue.array([.string(bob.publicKey.hex), .string(carol.publicKey.hex)])
        let made = try await daemon.result("init_group", ["peer_pubkeys": peers, "group_name": "new"])
        let group = try #require(made["nostr_group_id"])
        #expect(try await daemon.failure("leave_group", ["nostr_group_id": group, "successor": "x"]) == "bad_pubkey")
        _ = try await daemon.result(
            "leave_group", ["nostr_group_id": group, "successor": .string(bob.publicKey.npub)])
        try await daemon.lab.advance(by: .seconds(120))
        let chat = try #require(made["mls_group_id"]?.chatID)
        let summary = try #require(try await bob.summary(of: chat))
        #expect(summary.isAdmin && summary.allMembers.count == 2)
    }
}
