import Nostr

extension OutgoingMessage {
    /// The name of the action that sends the message.
    var actionName: String { self.kind == .reaction ? "react_to_message" : "send_message" }
}

extension AppAction {
    /// The case in snake case, as in metrics and outcomes.
    package var name: String {
        switch self {
        case .pushScreen: "push_screen"
        case .popScreen: "pop_screen"
        case .setScreens: "set_screens"
        case .openChat: "open_chat"
        case .loadOlderMessages: "load_older_messages"
        case .clearToast: "clear_toast"
        case .foregrounded: "foregrounded"
        case .reloadConfiguration: "reload_configuration"
        case .saveProfile: "save_profile"
        case .refreshProfile: "refresh_profile"
        case .openPeerProfile: "open_peer_profile"
        case .closePeerProfile: "close_peer_profile"
        case .follow: "follow"
        case .unfollow: "unfollow"
        case .publishKeyPackage: "publish_key_package"
        case .findKeyPackages: "find_key_packages"
        case .createGroupChat: "create_group_chat"
        case .createChat: "create_chat"
        case .addGroupMembers: "add_group_members"
        case .removeGroupMembers: "remove_group_members"
        case .renameGroup: "rename_group"
        case .setGroupDescription: "set_group_description"
        case .setGroupRelays: "set_group_relays"
        case .setGroupAdmins: "set_group_admins"
        case .selfDemote: "self_demote"
        case .rotateGroupID: "rotate_group_id"
        case .upgradeGroup: "upgrade_group"
        case .disbandGroup: "disband_group"
        case .enableDisbanding: "enable_disbanding"
        case .setDisappearingMessages: "set_disappearing_messages"
        case .updateGroupKeys: "update_group_keys"
        case .leaveGroup: "leave_group"
        case .setGroupImage: "set_group_image"
        case .acceptInvite: "accept_invite"
        case .declineInvite: "decline_invite"
        case .saveGroupProfile: "save_group_profile"
        case .archiveChat: "archive_chat"
        case .sendMessage: "send_message"
        case .reactToMessage: "react_to_message"
        case .sendMedia: "send_media"
        case .downloadChatMedia: "download_chat_media"
        case .retryMessage: "retry_message"
        case .typingStarted: "typing_started"
        case .sendHypernote: "send_hypernote"
        case .hypernoteAction: "hypernote_action"
        case .registerPushToken: "register_push_token"
        case .removePushToken: "remove_push_token"
        case .setPushNotifications: "set_push_notifications"
        case .startCall: "start_call"
        case .startVideoCall: "start_video_call"
        case .acceptCall: "accept_call"
        case .toggleMute: "toggle_mute"
        case .toggleCamera: "toggle_camera"
        case .rejectCall: "reject_call"
        case .endCall: "end_call"
        }
    }

    /// The chat that the action is about; nil for actions about none, and for those that create one.
    var chatID: ChatID? {
        switch self {
        case .openChat(let chatID), .loadOlderMessages(let chatID, _), .addGroupMembers(let chatID, _, _),
            .removeGroupMembers(let chatID, _), .renameGroup(let chatID, _), .setGroupDescription(let chatID, _),
            .setGroupRelays(let chatID, _), .setGroupAdmins(let chatID, _), .selfDemote(let chatID),
            .rotateGroupID(let chatID), .upgradeGroup(let chatID), .disbandGroup(let chatID),
            .enableDisbanding(let chatID), .setDisappearingMessages(let chatID, _), .updateGroupKeys(let chatID),
            .leaveGroup(let chatID, _), .setGroupImage(let chatID, _), .saveGroupProfile(let chatID, _),
            .archiveChat(let chatID, _), .sendMessage(let chatID, _), .reactToMessage(let chatID, _, _),
            .sendMedia(let chatID, _), .downloadChatMedia(let chatID, _, _), .retryMessage(let chatID, _),
            .typingStarted(let chatID), .sendHypernote(let chatID, _), .hypernoteAction(let chatID, _, _, _),
            .startCall(let chatID, _, _, _), .startVideoCall(let chatID, _, _, _), .acceptCall(let chatID, _),
            .rejectCall(let chatID, _, _), .endCall(let chatID, _, _):
            chatID
        case .pushScreen, .popScreen, .setScreens, .clearToast, .foregrounded, .reloadConfiguration, .saveProfile,
            .refreshProfile, .openPeerProfile, .closePeerProfile, .follow, .unfollow, .publishKeyPackage,
            .findKeyPackages, .createGroupChat, .createChat, .acceptInvite, .declineInvite, .registerPushToken,
            .removePushToken, .setPushNotifications, .toggleMute, .toggleCamera:
            nil
        }
    }
}
