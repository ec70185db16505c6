import Nostr
import Testing

@testable import Daemon
@testable import PikaCore

/// The exact encoding of replies and events.
@Suite struct LineTests {
    private let key: PublicKey
    private let id: EventID

    init() throws {
        self.key = try PublicKey(hex: "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
        self.id = try EventID(hex: String(repeating: "ab", count: 32))
    }

    private var group: DaemonGroup {
        DaemonGroup(
            chatID: "dd", nostrGroupID: "cc", name: "Lab", description: "d",
            members: [.init(publicKey: self.key, isAdmin: true)],
            generation: GroupGenerationFields(.v2, convergence: "blocked", reason: "r"))
    }

    @Test func encodesReplies() {
        #expect(DaemonReply.ok(requestID: nil, result: nil).line == #"{"type":"ok"}"#)
        #expect(
            DaemonReply.ok(requestID: "r", result: ["a": 1]).line
                == #"{"type":"ok","request_id":"r","result":{"a":1}}"#)
        #expect(
            DaemonReply.error(requestID: nil, DaemonFailure(.parseError, "a \"b\"\n")).line
                == #"{"type":"error","code":"parse_error","message":"a \"b\"\n"}"#)
        #expect(
            DaemonReply.error(requestID: "r", DaemonFailure(.badGroupID, "m")).line
                == #"{"type":"error","request_id":"r","code":"bad_group_id","message":"m"}"#)
    }

    @Test func encodesAccountEvents() {
        #expect(
            DaemonEvent.ready(account: self.key).line()
                == #"{"type":"ready","protocol_version":1,"pubkey":"\#(self.key.hex)","npub":"\#(self.key.npub)"}"#)
        #expect(
            DaemonEvent.keyPackagePublished(self.id).line()
                == #"{"type":"keypackage_published","event_id":"\#(self.id.hex)"}"#)
        #expect(
            DaemonEvent.keyPackagePublished(self.id).line(cursor: 7)
                == #"{"type":"keypackage_published","event_id":"\#(self.id.hex)","cursor":7}"#)
    }

    @Test func encodesGroupEvents() {
        #expect(
            DaemonEvent.groupJoined(self.group).line()
                == #"{"type":"group_joined","nostr_group_id":"cc","mls_group_id":"dd","member_count":1,"protocol":"v2"}"#
        )
        #expect(
            DaemonEvent.groupCreated(self.group, peer: self.key).line()
                == #"{"type":"group_created","nostr_group_id":"cc","mls_group_id":"dd","peer_pubkey":"\#(self.key.hex)","#
                + #""member_count":1,"protocol":"v2"}"#)
        #expect(
            DaemonEvent.groupUpdated(DaemonGroupUpdate(kind: .left, nostrGroupID: "cc")).line()
                == #"{"type":"group_updated","update":{"kind":"left","nostr_group_id":"cc"}}"#)
        let profile = DaemonGroupProfile(nostrGroupID: "cc", owner: self.key, name: "Lab", about: "d", picture: nil)
        let update = DaemonGroupUpdate(kind: .membersAdded, nostrGroupID: "cc", group: self.group, profile: profile)
        #expect(
            DaemonEvent.groupUpdated(update).line()
                == #"{"type":"group_updated","update":{"kind":"members_added","nostr_group_id":"cc","member_count":1,"#
                + #""members":[{"pubkey":"\#(self.key.hex)","is_admin":true}],"profile":{"nostr_group_id":"cc","#
                + #""owner_pubkey":"\#(self.key.hex)","name":"Lab","about":"d","picture_url":null}}}"#)
    }

    @Test func encodesGroupsWithGeneration() {
        #expect(
            JSONValue.object(self.group.json).jsonText
                == #"{"nostr_group_id":"cc","mls_group_id":"dd","name":"Lab","description":"d","member_count":1,"#
                + #""protocol":"v2","convergence":"blocked","convergence_reason":"r"}"#)
        #expect(GroupGenerationFields(.v1).json(after: [:]) == ["protocol": "v1"])
    }

    @Test(arguments: [false, true])
    func encodesWithdrawals(isRestored: Bool) {
        let withdrawn = WithdrawnEvent(
            id: self.id, sender: self.key, kind: .chatMessage, epoch: 3, wrapper: nil, isRestored: isRestored)
        let event = DaemonEvent.withdrawn(DaemonWithdrawal(withdrawn, in: "cc"))
        #expect(
            event.line(cursor: 7)
                == #"{"type":"withdrawn","nostr_group_id":"cc","message_id":"\#(self.id.hex)","#
                + #""from_pubkey":"\#(self.key.hex)","kind":9,"restored":\#(isRestored),"cursor":7}"#)
        #expect(event.chatOfMembers == "cc")
    }

    private func proposal(_ change: ProposalEvent.Change) -> DaemonEvent {
        let proposal = ProposalEvent(id: self.id, sender: self.key, change: change, epoch: 3, role: .member)
        return DaemonEvent.proposalReceived(DaemonProposal(proposal, in: "cc"))
    }

    @Test func encodesProposalEvents() {
        let start =
            #"{"type":"proposal_received","nostr_group_id":"cc","from_pubkey":"\#(self.key.hex)","#
            + #""event_id":"\#(self.id.hex)","departure":"#
        #expect(self.proposal(.departure).line(cursor: 7) == start + #"true,"change":"departure","cursor":7}"#)
        let removal = start + #"false,"change":"removal","pubkey":"\#(self.key.hex)"}"#
        #expect(self.proposal(.removal(self.key)).line() == removal)
        #expect(self.proposal(.addition(nil)).line() == start + #"false,"change":"addition"}"#)
        #expect(self.proposal(.groupData).line() == start + #"false,"change":"group_data"}"#)
        #expect(self.proposal(.departure).chatOfMembers == "cc")
    }

    private func outcome(_ result: ActionResult, chatID: ChatID? = "dd") -> String {
        let action = ActionID(rawValue: "daemon/command-7")
        let event = OutcomeEvent(action: action, kind: "k", result: result)
        return DaemonEvent.outcome(DaemonOutcome(event, chatID: chatID, nostrGroupID: chatID.map { _ in "cc" })).line()
    }

    @Test func encodesOutcomes() throws {
        let start = #"{"type":"outcome","action":"daemon/command-7","name":"k","result":"#
        let chat = #""nostr_group_id":"cc","mls_group_id":"dd"}"#
        let relay = try RelayURL("wss://r.example")
        #expect(self.outcome(.done) == start + #""done","# + chat)
        #expect(
            self.outcome(.published(messageID: self.id, relays: [relay]))
                == start + #""published","message_id":"\#(self.id.hex)","relays":["\#(relay.string)"],"# + chat)
        #expect(
            self.outcome(.delivered(messageID: self.id, relays: []))
                == start + #""delivered","message_id":"\#(self.id.hex)","relays":[],"# + chat)
        #expect(
            self.outcome(.partlyDone(left: [self.key: .welcomeRefused(reason: "no \"room\"")]))
                == start + #""partly_done","left_out":[{"peer":"\#(self.key.hex)","error":"welcome_refused","#
                + #""reason":"no \"room\""}],"# + chat)
        #expect(
            self.outcome(.failed(AppCoreError(.busy, "wait"), messageID: self.id), chatID: nil)
                == start + #""failed","message_id":"\#(self.id.hex)","error":"busy","reason":"wait"}"#)
        let missing = AppCoreError(.noKeyPackage, "none", peers: [self.key: .missing])
        let left = #""left_out":[{"peer":"\#(self.key.hex)","error":"no_key_package","verdict":"missing","reason":"#
        #expect(self.outcome(.failed(missing), chatID: nil).contains(left))
    }

    @Test func errorNamesRequestedAction() {
        var failure = DaemonFailure(.publishFailed, "m")
        failure.action = ActionID(rawValue: "daemon/command-7")
        #expect(
            DaemonReply.error(requestID: "r", failure).line
                == #"{"type":"error","request_id":"r","code":"publish_failed","message":"m","action":"daemon/command-7"}"#
        )
    }

    @Test func encodesMembersWithNames() {
        let group = DaemonGroup(
            chatID: "dd", nostrGroupID: "cc", name: "", description: "",
            members: [.init(publicKey: self.key, isAdmin: false, name: "Eve", picture: "https://p.example/e")],
            generation: GroupGenerationFields(.v1))
        #expect(
            group.memberList.jsonText
                == #"[{"pubkey":"\#(self.key.hex)","is_admin":false,"name":"Eve","picture":"https://p.example/e"}]"#)
    }

    @Test func encodesProposals() {
        let proposals: [AppState.WaitingProposal] = [
            .init(proposer: self.key, change: .departure), .init(proposer: self.key, change: .removal(self.key)),
            .init(proposer: self.key, change: .addition(nil)),
        ]
        let start = #"{"from_pubkey":"\#(self.key.hex)","change":"#
        #expect(
            proposals.map(\.json.jsonText) == [
                start + #""departure"}"#, start + #""removal","pubkey":"\#(self.key.hex)"}"#,
                start + #""addition"}"#,
            ])
    }

    @Test func encodesMessages() {
        let message = DaemonMessage(
            chatID: "dd", nostrGroupID: "cc", id: self.id, sender: self.key, kind: .chatMessage, content: "zażółć",
            createdAt: 123,
            media: [])
        #expect(
            DaemonEvent.messageReceived(message).line()
                == #"{"type":"message_received","nostr_group_id":"cc","from_pubkey":"\#(self.key.hex)","#
                + #""content":"zażółć","kind":9,"created_at":123,"event_id":"\#(self.id.hex)","#
                + #""message_id":"\#(self.id.hex)"}"#)
    }

    @Test func programsReadIDOfStream() {
        let message = DaemonMessage(
            chatID: "dd", nostrGroupID: "cc", id: self.id, sender: self.key, kind: .agentStreamStart, content: "",
            createdAt: 1, media: [], tags: [Tag(values: ["stream", "aa"])])
        let event = DaemonEvent.messageReceived(message)
        #expect(event.line(cursor: 7).contains(#""kind":1200"#))
        #expect(event.line(cursor: 7).contains(#""tags":[["stream","aa"]]"#))
    }

    @Test func encodesAttachments() throws {
        let tag = Tag(values: [
            "imeta", "url https://b.example/x", "m image/png", "filename s.png", "dim 800x600",
            "x \(self.id.hex)", "n 000102030405060708090a0b", "v mip04-v2",
        ])
        let file = try #require(MediaAttachment.all(in: [tag]).first)
        let message = DaemonMessage(
            chatID: "dd", nostrGroupID: "cc", id: self.id, sender: self.key, kind: .chatMessage, content: "",
            createdAt: 1,
            media: [.init(file: file, localPath: "/m/s.png")])
        #expect(
            DaemonEvent.messageReceived(message).line().hasSuffix(
                #""media":[{"url":"https://b.example/x","mime_type":"image/png","filename":"s.png","#
                    + #""original_hash_hex":"\#(self.id.hex)","nonce_hex":"000102030405060708090a0b","#
                    + #""scheme_version":"mip04-v2","width":800,"height":600,"local_path":"/m/s.png"}]}"#))
    }

    @Test func encodesCallEvents() {
        #expect(
            DaemonEvent.callInviteReceived(callID: "i", from: self.key, nostrGroupID: "cc").line()
                == #"{"type":"call_invite_received","call_id":"i","from_pubkey":"\#(self.key.hex)","nostr_group_id":"cc"}"#
        )
        #expect(
            DaemonEvent.callSessionStarted(callID: "i", nostrGroupID: "cc", from: self.key).line()
                == #"{"type":"call_session_started","call_id":"i","nostr_group_id":"cc","from_pubkey":"\#(self.key.hex)"}"#
        )
        #expect(
            DaemonEvent.callSessionEnded(callID: "i", reason: "busy").line()
                == #"{"type":"call_session_ended","call_id":"i","reason":"busy"}"#)
        #expect(
            DaemonEvent.callDebug(callID: "i", sent: 1, received: 2, dropped: 3).line()
                == #"{"type":"call_debug","call_id":"i","tx_frames":1,"rx_frames":2,"rx_dropped":3}"#)
        #expect(
            DaemonEvent.callAudioChunk(callID: "i", path: "/a", sampleRate: 48_000, channels: 1).line()
                == #"{"type":"call_audio_chunk","call_id":"i","audio_path":"/a","sample_rate":48000,"channels":1}"#)
        #expect(
            DaemonEvent.callData(callID: "i", payload: [0, 255], track: "pty0").line()
                == #"{"type":"call_data","call_id":"i","payload_hex":"00ff","track_name":"pty0"}"#)
    }
}
