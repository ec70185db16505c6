import Testing

@testable import Daemon

@Suite struct CommandDecodingTests {
    private func command(_ line: String) throws -> DaemonCommand { try DaemonRequest(line: line).command }

    @Test func decodesEveryCommand() throws {
        let group = #""nostr_group_id":"g""#
        let expected: [(String, DaemonCommand)] = [
            (#"{"cmd":"publish_keypackage","relays":["ws://a"]}"#, .publishKeyPackage(relays: ["ws://a"])),
            (#"{"cmd":"set_relays","relays":[]}"#, .setRelays([])),
            (#"{"cmd":"list_pending_welcomes"}"#, .listPendingWelcomes),
            (#"{"cmd":"accept_welcome","wrapper_event_id":"w"}"#, .acceptWelcome(id: "w")),
            (#"{"cmd":"list_groups"}"#, .listGroups),
            (#"{"cmd":"add_members",\#(group),"peer_pubkeys":["p"]}"#, .addMembers(group: "g", peers: ["p"])),
            (#"{"cmd":"list_members",\#(group)}"#, .listMembers(group: "g")),
            (#"{"cmd":"remove_members",\#(group),"peer_pubkeys":[]}"#, .removeMembers(group: "g", peers: [])),
            (#"{"cmd":"leave_group",\#(group)}"#, .leaveGroup("g")),
            (
                #"{"cmd":"update_group_profile",\#(group),"name":"n","about":""}"#,
                .updateGroupProfile(group: "g", name: "n", about: "")
            ),
            (#"{"cmd":"get_group_profile",\#(group)}"#, .getGroupProfile(group: "g")),
            (
                #"{"cmd":"upload_group_profile_image",\#(group),"image_base64":"AQID","mime_type":"image/png"}"#,
                .uploadGroupProfileImage(group: "g", imageBase64: "AQID", mimeType: "image/png")
            ),
            (#"{"cmd":"hypernote_catalog"}"#, .hypernoteCatalog),
            (#"{"cmd":"send_message",\#(group),"content":"c"}"#, .sendMessage(group: "g", content: "c")),
            (
                #"{"cmd":"send_hypernote",\#(group),"content":"c","title":"t","state":"{}"}"#,
                .sendHypernote(group: "g", content: "c", title: "t", state: "{}")
            ),
            (
                #"{"cmd":"react",\#(group),"event_id":"e","emoji":"🧇"}"#,
                .react(group: "g", eventID: "e", emoji: "🧇")
            ),
            (
                #"{"cmd":"submit_hypernote_action",\#(group),"event_id":"e","action":"a","form":{"k":"v"}}"#,
                .submitHypernoteAction(group: "g", eventID: "e", action: "a", form: ["k": "v"])
            ),
            (
                #"{"cmd":"send_media",\#(group),"file_path":"/p","mime_type":"image/png","filename":"f","caption":"c","#
                    + #""blossom_servers":["s"]}"#,
                .sendMedia(
                    group: "g", .init(path: "/p", mimeType: "image/png", filename: "f"), caption: "c", servers: ["s"])
            ),
            (
                #"{"cmd":"send_media_batch",\#(group),"file_paths":["/p"],"caption":"c","blossom_servers":["s"]}"#,
                .sendMediaBatch(group: "g", paths: ["/p"], caption: "c", servers: ["s"])
            ),
            (#"{"cmd":"send_typing",\#(group)}"#, .sendTyping(group: "g")),
            (
                #"{"cmd":"invite_call",\#(group),"peer_pubkey":"p","call_id":"i","moq_url":"u","broadcast_base":"b","#
                    + #""track_name":"t","track_codec":"c","relay_auth":"r"}"#,
                .inviteCall(
                    .init(
                        group: "g", peer: "p", callID: "i", moqURL: "u", broadcastBase: "b", trackName: "t",
                        trackCodec: "c", relayAuth: "r"))
            ),
            (#"{"cmd":"accept_call","call_id":"i"}"#, .acceptCall("i")),
            (#"{"cmd":"reject_call","call_id":"i","reason":"no"}"#, .rejectCall("i", reason: "no")),
            (#"{"cmd":"end_call","call_id":"i","reason":"bye"}"#, .endCall("i", reason: "bye")),
            (
                #"{"cmd":"send_audio_response","call_id":"i","tts_text":"t"}"#,
                .sendAudioResponse(call: "i", text: "t")
            ),
            (
                #"{"cmd":"send_audio_file","call_id":"i","audio_path":"/a","sample_rate":24000,"channels":2}"#,
                .sendAudioFile(call: "i", path: "/a", sampleRate: 24_000, channels: 2)
            ),
            (
                #"{"cmd":"send_call_data","call_id":"i","payload_hex":"00","track_name":"t"}"#,
                .sendCallData(call: "i", payloadHex: "00", track: "t")
            ),
            (
                #"{"cmd":"init_group","peer_pubkey":"p","group_name":"n","protocol":"v2"}"#,
                .initGroup(peer: "p", name: "n", groupProtocol: "v2")
            ),
            (
                #"{"cmd":"init_group","peer_pubkeys":["p","q"],"group_name":"n","on_missing":"skip"}"#,
                .foundGroup(peers: ["p", "q"], name: "n", onMissing: "skip")
            ),
            (
                #"{"cmd":"add_members",\#(group),"peer_pubkeys":["p"],"on_missing":"skip"}"#,
                .addMembers(group: "g", peers: ["p"], onMissing: "skip")
            ),
            (#"{"cmd":"rename_group",\#(group),"name":"n"}"#, .renameGroup(group: "g", name: "n")),
            (
                #"{"cmd":"describe_group",\#(group),"description":"d"}"#,
                .describeGroup(group: "g", description: "d")
            ),
            (
                #"{"cmd":"set_group_admins",\#(group),"admin_pubkeys":["p"]}"#,
                .setGroupAdmins(group: "g", admins: ["p"])
            ),
            (
                #"{"cmd":"set_group_relays",\#(group),"relays":["ws://a"]}"#,
                .setGroupRelays(group: "g", relays: ["ws://a"])
            ),
            (
                #"{"cmd":"get_messages",\#(group),"before":{"created_at":5,"message_id":"m"}}"#,
                .getMessages(
                    group: "g", limit: 50, before: DaemonCommand.Place(createdAt: 5, messageID: "m"))
            ),
            (#"{"cmd":"disband_group",\#(group)}"#, .disbandGroup("g")),
            (#"{"cmd":"enable_disbanding",\#(group)}"#, .enableDisbanding("g")),
            (#"{"cmd":"get_messages",\#(group),"limit":7}"#, .getMessages(group: "g", limit: 7)),
            (#"{"cmd":"shutdown"}"#, .shutdown), (#"{"cmd":"list_accounts"}"#, .listAccounts),
            (#"{"cmd":"login"}"#, .logIn(DaemonCommand.Login())),
            (
                #"{"cmd":"login","account":"a","nsec_file":"n","ncryptsec_file":"c","password_file":"p","bunker":"b"}"#,
                .logIn(
                    DaemonCommand.Login(
                        account: "a", nsecFile: "n", ncryptsecFile: "c", passwordFile: "p", bunker: "b"))
            ),
            (#"{"cmd":"logout"}"#, .logOut(account: nil, erases: false)),
            (#"{"cmd":"logout","account":"a","erase":true}"#, .logOut(account: "a", erases: true)),
            (
                #"{"cmd":"register_push_token","server_pubkey":"s","relay_url":"r","platform":"fcm","token_hex":"00"}"#,
                .registerPushToken(.init(server: "s", relay: "r", platform: "fcm", tokenHex: "00"))
            ),
            (#"{"cmd":"remove_push_token"}"#, .removePushToken),
            (#"{"cmd":"set_push_notifications","enabled":true}"#, .setPushNotifications(true)),
            (
                #"{"cmd":"hello","protocol":2,"client":"c","token":"t","cursor":5,"subscribe":true}"#,
                .hello(.init(version: 2, client: "c", token: "t", cursor: 5, subscribes: true))
            ),
            (
                #"{"cmd":"hello","protocol":2,"outcomes":true}"#,
                .hello(
                    .init(
                        version: 2, client: nil, token: nil, cursor: nil, subscribes: false, wantsOutcomes: true))
            ),
            (#"{"cmd":"get_call"}"#, .getCall),
            (
                #"{"cmd":"leave_group",\#(group),"successor":"p"}"#,
                .leaveGroup("g", successor: "p")
            ),
        ]
        for (line, command) in expected { #expect(try self.command(line) == command, "\(line)") }
    }

    @Test func defaultsAbsentFields() throws {
        let group = #""nostr_group_id":"g""#
        let expected: [(String, DaemonCommand)] = [
            (#"{"cmd":"publish_keypackage"}"#, .publishKeyPackage(relays: [])),
            (
                #"{"cmd":"send_hypernote",\#(group),"content":"c","title":null}"#,
                .sendHypernote(group: "g", content: "c", title: nil, state: nil)
            ),
            (
                #"{"cmd":"submit_hypernote_action",\#(group),"event_id":"e","action":"a"}"#,
                .submitHypernoteAction(group: "g", eventID: "e", action: "a", form: [:])
            ),
            (
                #"{"cmd":"send_media",\#(group),"file_path":"/p"}"#,
                .sendMedia(group: "g", .init(path: "/p", mimeType: nil, filename: nil), caption: "", servers: [])
            ),
            (#"{"cmd":"reject_call","call_id":"i"}"#, .rejectCall("i", reason: "declined")),
            (#"{"cmd":"end_call","call_id":"i"}"#, .endCall("i", reason: "user_hangup")),
            (
                #"{"cmd":"send_audio_file","call_id":"i","audio_path":"/a","sample_rate":1}"#,
                .sendAudioFile(call: "i", path: "/a", sampleRate: 1, channels: 1)
            ),
            (#"{"cmd":"init_group","peer_pubkey":"p"}"#, .initGroup(peer: "p", name: "DM")),
            (#"{"cmd":"get_messages",\#(group)}"#, .getMessages(group: "g", limit: 50)),
            (
                #"{"cmd":"hello","protocol":2}"#,
                .hello(.init(version: 2, client: nil, token: nil, cursor: nil, subscribes: false))
            ),
        ]
        for (line, command) in expected { #expect(try self.command(line) == command, "\(line)") }
    }

    @Test func fingerprintExcludesIDs() throws {
        let one = try DaemonRequest(line: #"{"cmd":"list_groups","request_id":"r","idempotency_key":"k","x":1}"#)
        #expect(one.requestID == "r" && one.idempotencyKey == "k" && one.name == "list_groups")
        let other = try DaemonRequest(line: #"{"request_id":"s","cmd":"list_groups","x":1}"#)
        #expect(one.fingerprintText == other.fingerprintText)
    }

    /// Command, and the field that is absent or mistyped.
    @Test(arguments: [
        ("set_relays", "relays", ["1", "null", "[1]", "\"ws://a\""]),
        ("accept_welcome", "wrapper_event_id", ["1", "null"]),
        ("add_members", "peer_pubkeys", ["{}", "[null]"]),
        ("send_message", "content", ["[]", "null"]),
        ("react", "emoji", ["1"]),
        ("send_media_batch", "file_paths", ["\"/p\""]),
        ("update_group_profile", "about", ["null"]),
        ("send_audio_file", "sample_rate", ["\"1\"", "-1", "4294967296", "1.5"]),
        ("set_push_notifications", "enabled", ["1", "null", "\"true\""]),
        ("hello", "protocol", ["\"2\"", "99999999999999999999"]),
    ])
    func refusesMissingAndMistypedFields(name: String, field: String, wrong: [String]) throws {
        let all: [String: String] = [
            "nostr_group_id": "\"g\"", "relays": "[]", "wrapper_event_id": "\"w\"", "peer_pubkeys": "[]",
            "content": "\"c\"", "event_id": "\"e\"", "emoji": "\"e\"", "file_paths": "[]", "name": "\"n\"",
            "about": "\"a\"", "call_id": "\"c\"", "audio_path": "\"/a\"", "sample_rate": "1", "protocol": "2",
            "enabled": "true",
        ]
        func line(_ value: String?) -> String {
            var fields = all
            fields[field] = value
            return "{\"cmd\":\"\(name)\""
                + fields.sorted { $0.key < $1.key }.map { ",\"\($0.key)\":\($0.value)" }.joined()
                + "}"
        }
        _ = try DaemonRequest(line: line(all[field]))
        for value in [nil] + wrong.map(Optional.some) {
            let failure = #expect(throws: DaemonFailure.self, "\(value ?? "nothing")") {
                try DaemonRequest(line: line(value))
            }
            #expect(failure?.code == .parseError)
        }
    }

    @Test(arguments: [
        "", "{", "[]", "1", "null", "{}", #"{"cmd":1}"#, #"{"cmd":"no_such"}"#, #"{"cmd":"list_groups"} x"#,
        #"{"cmd":"list_groups","request_id":1}"#, #"{"cmd":"list_groups","idempotency_key":""}"#,
        #"{"cmd":"get_messages","nostr_group_id":"g","limit":-1}"#,
        #"{"cmd":"submit_hypernote_action","nostr_group_id":"g","event_id":"e","action":"a","form":{"k":1}}"#,
        "{\"cmd\":\"list_groups\",\"request_id\":\"\u{1}\"}",
        String(repeating: "[", count: 100_000),
    ])
    func refusesLinesThatAreNotCommands(line: String) {
        let failure = #expect(throws: DaemonFailure.self) { try DaemonRequest(line: line) }
        #expect(failure?.code == .parseError)
    }

    @Test func refusesTruncatedCommands() {
        let line = #"{"cmd":"send_message","nostr_group_id":"aa","content":"zażółć","request_id":"r1"}"#
        for end in line.indices {
            #expect(throws: DaemonFailure.self) { try DaemonRequest(line: line[..<end]) }
        }
    }
}
