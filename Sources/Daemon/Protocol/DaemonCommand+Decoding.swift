extension DaemonCommand {
    init(name: String, _ fields: CommandFields) throws(DaemonFailure) {
        if let command = try Self.accountCommand(name, fields) {
            self = command
        } else if let command = try Self.groupCommand(name, fields) {
            self = command
        } else if let command = try Self.messageCommand(name, fields) {
            self = command
        } else if let command = try Self.callCommand(name, fields) {
            self = command
        } else {
            throw DaemonFailure(.parseError, "unknown command `\(name.prefix(64))`")
        }
    }

    private static func accountCommand(_ name: String, _ fields: CommandFields) throws(DaemonFailure) -> Self? {
        switch name {
        case "publish_keypackage": .publishKeyPackage(relays: try fields.texts("relays", default: []))
        case "set_relays": .setRelays(try fields.texts("relays"))
        case "list_pending_welcomes": .listPendingWelcomes
        case "accept_welcome": .acceptWelcome(id: try fields.text("wrapper_event_id"))
        case "list_groups": .listGroups
        case "hypernote_catalog": .hypernoteCatalog
        case "get_call": .getCall
        case "register_push_token":
            .registerPushToken(
                PushToken(
                    server: try fields.text("server_pubkey"), relay: try fields.text("relay_url"),
                    platform: try fields.text("platform"), tokenHex: try fields.text("token_hex")))
        case "remove_push_token": .removePushToken
        case "set_push_notifications": .setPushNotifications(try fields.requiredFlag("enabled"))
        case "shutdown": .shutdown
        case "list_accounts": .listAccounts
        case "login":
            .logIn(
                Login(
                    account: try fields.optionalText("account"), nsecFile: try fields.optionalText("nsec_file"),
                    ncryptsecFile: try fields.optionalText("ncryptsec_file"),
                    passwordFile: try fields.optionalText("password_file"),
                    bunker: try fields.optionalText("bunker")))
        case "logout":
            .logOut(account: try fields.optionalText("account"), erases: try fields.flag("erase"))
        case "ack": .acknowledge(cursor: try fields.number("cursor"))
        case "hello":
            .hello(
                Hello(
                    version: try fields.number("protocol"), client: try fields.optionalText("client"),
                    token: try fields.optionalText("token"), cursor: try fields.optionalNumber("cursor"),
                    subscribes: try fields.flag("subscribe"), acknowledges: try fields.flag("acks"),
                    wantsOutcomes: try fields.flag("outcomes")))
        default: nil
        }
    }

    private static func groupCommand(_ name: String, _ fields: CommandFields) throws(DaemonFailure) -> Self? {
        switch name {
        case "init_group" where fields.has("peer_pubkeys"):
            return .foundGroup(
                peers: try fields.texts("peer_pubkeys"), name: try fields.text("group_name"),
                onMissing: try fields.optionalText("on_missing"), groupProtocol: try fields.optionalText("protocol"))
        case "init_group":
            return .initGroup(
                peer: try fields.text("peer_pubkey"), name: try fields.text("group_name", default: "DM"),
                groupProtocol: try fields.optionalText("protocol"))
        case "add_members", "remove_members", "list_members", "leave_group", "disband_group", "enable_disbanding",
            "update_group_profile", "get_group_profile", "upload_group_profile_image", "rename_group",
            "describe_group", "set_group_admins", "set_group_relays":
            break
        default: return nil
        }
        let group = try fields.text("nostr_group_id")
        switch name {
        case "add_members":
            return .addMembers(
                group: group, peers: try fields.texts("peer_pubkeys"),
                onMissing: try fields.optionalText("on_missing"))
        case "rename_group": return .renameGroup(group: group, name: try fields.text("name"))
        case "describe_group": return .describeGroup(group: group, description: try fields.text("description"))
        case "set_group_admins": return .setGroupAdmins(group: group, admins: try fields.texts("admin_pubkeys"))
        case "set_group_relays": return .setGroupRelays(group: group, relays: try fields.texts("relays"))
        case "remove_members": return .removeMembers(group: group, peers: try fields.texts("peer_pubkeys"))
        case "list_members": return .listMembers(group: group)
        case "leave_group":
            return .leaveGroup(group, successor: try fields.optionalText("successor"))
        case "disband_group": return .disbandGroup(group)
        case "enable_disbanding": return .enableDisbanding(group)
        case "update_group_profile":
            return .updateGroupProfile(group: group, name: try fields.text("name"), about: try fields.text("about"))
        case "get_group_profile": return .getGroupProfile(group: group)
        default:
            return .uploadGroupProfileImage(
                group: group, imageBase64: try fields.text("image_base64"), mimeType: try fields.text("mime_type"))
        }
    }

    private static func messageCommand(_ name: String, _ fields: CommandFields) throws(DaemonFailure) -> Self? {
        func group() throws(DaemonFailure) -> String { try fields.text("nostr_group_id") }
        switch name {
        case "send_message": return .sendMessage(group: try group(), content: try fields.text("content"))
        case "send_hypernote":
            return .sendHypernote(
                group: try group(), content: try fields.text("content"), title: try fields.optionalText("title"),
                state: try fields.optionalText("state"))
        case "react":
            return .react(
                group: try group(), eventID: try fields.text("event_id"), emoji: try fields.text("emoji"))
        case "submit_hypernote_action":
            return .submitHypernoteAction(
                group: try group(), eventID: try fields.text("event_id"), action: try fields.text("action"),
                form: try fields.table("form"))
        case "send_media":
            let file = File(
                path: try fields.text("file_path"), mimeType: try fields.optionalText("mime_type"),
                filename: try fields.optionalText("filename"))
            return .sendMedia(
                group: try group(), file, caption: try fields.text("caption", default: ""),
                servers: try fields.texts("blossom_servers", default: []))
        case "send_media_batch":
            return .sendMediaBatch(
                group: try group(), paths: try fields.texts("file_paths"),
                caption: try fields.text("caption", default: ""),
                servers: try fields.texts("blossom_servers", default: []))
        case "send_typing": return .sendTyping(group: try group())
        case "get_messages":
            let limit: UInt64 = try fields.number("limit", default: 50)
            return .getMessages(group: try group(), limit: Int(clamping: limit), before: try fields.place("before"))
        default: return nil
        }
    }

    private static func callCommand(_ name: String, _ fields: CommandFields) throws(DaemonFailure) -> Self? {
        func call() throws(DaemonFailure) -> String { try fields.text("call_id") }
        switch name {
        case "invite_call":
            return .inviteCall(
                CallInvitation(
                    group: try fields.text("nostr_group_id"), peer: try fields.text("peer_pubkey"),
                    callID: try fields.optionalText("call_id"), moqURL: try fields.text("moq_url"),
                    broadcastBase: try fields.optionalText("broadcast_base"),
                    trackName: try fields.optionalText("track_name"),
                    trackCodec: try fields.optionalText("track_codec"),
                    relayAuth: try fields.optionalText("relay_auth")))
        case "accept_call": return .acceptCall(try call())
        case "reject_call":
            return .rejectCall(try call(), reason: try fields.text("reason", default: "declined"))
        case "end_call": return .endCall(try call(), reason: try fields.text("reason", default: "user_hangup"))
        case "send_audio_response": return .sendAudioResponse(call: try call(), text: try fields.text("tts_text"))
        case "send_audio_file":
            return .sendAudioFile(
                call: try call(), path: try fields.text("audio_path"), sampleRate: try fields.number("sample_rate"),
                channels: try fields.number("channels", default: 1))
        case "send_call_data":
            return .sendCallData(
                call: try call(), payloadHex: try fields.text("payload_hex"),
                track: try fields.optionalText("track_name"))
        default: return nil
        }
    }
}
