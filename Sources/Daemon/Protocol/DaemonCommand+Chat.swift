extension DaemonCommand {
    /// The command's reference to a group, unparsed; nil if it has none.
    package var groupReference: String? {
        switch self {
        case .addMembers(let group, _, _), .listMembers(let group), .removeMembers(let group, _),
            .leaveGroup(let group, _),
            .disbandGroup(let group), .enableDisbanding(let group), .renameGroup(let group, _),
            .describeGroup(let group, _), .setGroupAdmins(let group, _), .setGroupRelays(let group, _),
            .updateGroupProfile(let group, _, _), .getGroupProfile(let group),
            .uploadGroupProfileImage(let group, _, _),
            .sendMessage(let group, _), .sendHypernote(let group, _, _, _), .react(let group, _, _),
            .submitHypernoteAction(let group, _, _, _), .sendMedia(let group, _, _, _),
            .sendMediaBatch(let group, _, _, _), .sendTyping(let group), .getMessages(let group, _, _):
            group
        case .inviteCall(let invitation): invitation.group
        case .publishKeyPackage, .setRelays, .listPendingWelcomes, .acceptWelcome, .listGroups, .hypernoteCatalog,
            .getCall,
            .acceptCall, .rejectCall, .endCall, .sendAudioResponse, .sendAudioFile, .sendCallData, .initGroup,
            .foundGroup, .registerPushToken, .removePushToken, .setPushNotifications, .shutdown, .listAccounts, .logIn,
            .logOut,
            .hello, .acknowledge:
            nil
        }
    }

    /// The command's call id, unparsed; nil if it has none.
    package var callID: String? {
        switch self {
        case .acceptCall(let id), .rejectCall(let id, _), .endCall(let id, _), .sendAudioResponse(let id, _),
            .sendAudioFile(let id, _, _, _), .sendCallData(let id, _, _):
            id
        default: nil
        }
    }

    /// Whether the command sends something to a group.
    package var isSending: Bool {
        switch self {
        case .sendMessage, .sendHypernote, .react, .submitHypernoteAction, .sendMedia, .sendMediaBatch, .sendTyping:
            true
        default: false
        }
    }
}
