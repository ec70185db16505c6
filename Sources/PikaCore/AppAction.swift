public import Nostr

/// An action that a user, a command or a bot runtime may request from the core. ``AppCore/dispatch(_:request:)``
/// enqueues it; results appear in the state, and as ``AppUpdate/finished(rev:request:outcome:)`` if a request id was
/// given.
public enum AppAction: Sendable, Hashable {
    // Navigation
    /// Pushes a screen onto the stack.
    case pushScreen(AppState.Screen)
    /// Removes the top screen; does nothing if the stack is empty.
    case popScreen
    /// Replaces the whole stack.
    case setScreens([AppState.Screen])
    /// Pushes the chat's screen; fails with `AppCoreError.Code.unknownChat` if no chat has this id.
    case openChat(chatID: ChatID)
    /// Loads up to `limit` older messages into the open chat.
    case loadOlderMessages(chatID: ChatID, limit: Int = 50)
    /// Removes the message in ``AppState/toast``.
    case clearToast
    /// The user has returned to the app: retries disconnected relays at once.
    case foregrounded
    /// Replaces relays, policies and limits. ``CoreConfiguration/client``, ``CoreConfiguration/keepsInbox`` and
    /// ``CoreConfiguration/detectsCopies`` cannot change while the core runs: if one of them differs, the action fails,
    /// names it, and changes nothing.
    case reloadConfiguration(CoreConfiguration)

    // People
    /// Publishes this account's profile (kind 0); fields that are nil keep their value.
    case saveProfile(ProfileDraft)
    /// Fetches this account's profile, its follow list and its chats' members' profiles from the relays again.
    case refreshProfile
    /// Shows a peer's known profile in ``AppState/peerProfile``, and fetches a newer one.
    case openPeerProfile(PublicKey)
    /// Clears ``AppState/peerProfile``.
    case closePeerProfile
    /// Adds a peer to this account's follow list and publishes the list (kind 3, NIP-02).
    case follow(PublicKey)
    /// Removes a peer from this account's follow list and publishes the list.
    case unfollow(PublicKey)

    // Account
    /// Announces the current key package again, or a fresh one if it is close to expiry. Ends once the announcement is
    /// queued; ``AppState/keyPackage`` shows each relay's answer.
    case publishKeyPackage
    /// Searches for the key packages of these peers; ends with ``ActionOutcome/found(_:)``.
    case findKeyPackages([PublicKey])

    // Chats
    /// Creates a group with these peers, whose key packages are found on the relays; this account is its admin. Without a
    /// protocol, ``CoreConfiguration/groupProtocol`` applies.
    case createGroupChat(
        name: String, peers: [PublicKey], missing: MissingPeers = .fail, groupProtocol: GroupProtocol? = nil)
    /// Creates a direct chat: a group with both as admins. With a name other than `DM` it shows as a group.
    case createChat(peer: PublicKey, name: String = "DM", groupProtocol: GroupProtocol? = nil)
    /// Adds these peers to the group, with key packages found on the relays.
    case addGroupMembers(chatID: ChatID, peers: [PublicKey], missing: MissingPeers = .fail)
    /// Removes these members, with all of their leaves, from the group.
    case removeGroupMembers(chatID: ChatID, peers: [PublicKey])
    /// Changes the name in the group data (MIP-01).
    case renameGroup(chatID: ChatID, name: String)
    /// Changes the description in the group data (MIP-01).
    case setGroupDescription(chatID: ChatID, description: String)
    /// Sets the relays that carry the group's events from then on; the change itself is published to the old relays.
    case setGroupRelays(chatID: ChatID, relays: [RelayURL])
    /// Replaces the list of the group's admins; all must be members.
    case setGroupAdmins(chatID: ChatID, admins: [PublicKey])
    /// Gives up this account's admin role; another member must be an admin.
    case selfDemote(chatID: ChatID)
    /// Gives the group a new nostrGroupID, so that outsiders cannot link it to the old one. The chat id stays.
    case rotateGroupID(chatID: ChatID)
    /// Requires all members to support SelfRemove, by which members leave, once every member's client does (MIP-03).
    /// Fails in groups of the second generation: they require it from the beginning.
    case upgradeGroup(chatID: ChatID)
    /// Ends a group of the second generation for all members, irrevocably; only an admin can.
    case disbandGroup(chatID: ChatID)
    /// Makes ``disbandGroup(chatID:)`` possible in a group of the second generation whose founder did not, once every
    /// member's client supports it.
    case enableDisbanding(chatID: ChatID)
    /// Sets the seconds after which messages are deleted everywhere; nil for never. MDK up to 0.8 cannot read a group
    /// with such a timer.
    case setDisappearingMessages(chatID: ChatID, seconds: UInt64?)
    /// Renews this account's keys in the group.
    case updateGroupKeys(chatID: ChatID)
    /// Leaves the group; an admin gives up that role first. The only admin names a `successor`, a member that becomes an
    /// admin before. Done when a relay has this account's proposal: from then on the chat shows as
    /// ``AppState/ChatEnd/left``, it is no longer busy, nothing can be sent, and the proposal is repeated until another
    /// member commits it.
    case leaveGroup(chatID: ChatID, successor: PublicKey? = nil)
    /// Encrypts and uploads a picture for the group, then commits it; nil removes the group's picture.
    case setGroupImage(chatID: ChatID, OutgoingImage?)
    /// Accepts a pending invitation that the policy did not accept automatically.
    case acceptInvite(wrapper: EventID)
    /// Drops a pending invitation; the inviter is not notified.
    case declineInvite(wrapper: EventID)

    /// Publishes this account's profile for this group only (kind 0 inside the group, docs/protocol/marmot.md §8.3).
    case saveGroupProfile(chatID: ChatID, ProfileDraft)
    /// Archives or unarchives a chat. The account stays in the group, and a new message unarchives the chat.
    case archiveChat(chatID: ChatID, Bool)

    // Messages
    /// Encrypts a message and queues it for the group's relays; ends with ``ActionOutcome/queued(messageID:wrapper:)``.
    case sendMessage(chatID: ChatID, OutgoingMessage)
    /// Sends a reaction (kind 7) to a message.
    case reactToMessage(chatID: ChatID, messageID: EventID, emoji: String)
    /// Encrypts files, uploads them and sends a message that refers to them. An upload in progress is lost when the
    /// process ends.
    case sendMedia(chatID: ChatID, OutgoingMedia)

    /// Downloads a file of a message into the host's media cache.
    case downloadChatMedia(chatID: ChatID, messageID: EventID, index: Int)
    /// Sends a message again that no relay has accepted.
    case retryMessage(chatID: ChatID, messageID: EventID)
    /// The user is typing; other members are notified at most every 5 s.
    case typingStarted(chatID: ChatID)
    /// Sends a message with interactive components (kind 9467).
    case sendHypernote(chatID: ChatID, Hypernote)
    /// Answers a hypernote with the action's name and the filled-in form.
    case hypernoteAction(chatID: ChatID, hypernote: EventID, action: String, form: [String: String])

    // Push notifications (MIP-05), in groups of the first generation
    /// Registers a device of this account with a push server, in place of an earlier one, and shares its encrypted token
    /// in all these groups, later ones too (kind 447).
    case registerPushToken(PushRegistration)
    /// Removes this account's push token and withdraws it in all these groups (kind 449).
    case removePushToken
    /// Sets whether to ask the push servers of other members to wake their devices when a relay has a chat message or
    /// hypernote of this account. Initially false. Asking connects to relays that members name.
    case setPushNotifications(Bool)

    // Calls
    /// Invites a member to a call: the other member of a direct chat, or `peer` in a larger group.
    ///
    /// Without a `callID`, one is generated and appended to the session's broadcast base; with one, the base is used
    /// unchanged. An empty address or base defaults to ``CoreConfiguration/calls``, empty tracks to one audio track,
    /// and an empty token is derived. Ends when the invitation is queued; ``AppState/activeCall`` shows its progress.
    case startCall(chatID: ChatID, session: CallSession, callID: String? = nil, peer: PublicKey? = nil)
    /// As ``startCall(chatID:session:callID:peer:)``, with an additional video track.
    case startVideoCall(chatID: ChatID, session: CallSession, callID: String? = nil, peer: PublicKey? = nil)
    /// Accepts the ringing call; fails with `AppCoreError.Code.unknownCall` if the ids name another call.
    case acceptCall(chatID: ChatID, callID: String)
    /// Mutes or unmutes this account's audio in the current call; fails without a call.
    case toggleMute
    /// Starts or stops sending this account's video; fails if the call has no video track.
    case toggleCamera
    /// Rejects the ringing call; reasons are free text, such as `declined`.
    case rejectCall(chatID: ChatID, callID: String, reason: String)
    /// Ends the current call, answered or not.
    case endCall(chatID: ChatID, callID: String, reason: String)
}

/// The reaction to peers without a usable key package.
public enum MissingPeers: Sendable, Hashable {
    /// Fail, naming those peers.
    case fail
    /// Proceed without them; the action ends with ``ActionOutcome/partlyDone(chatID:left:)``.
    case proceedWithout
}

/// The reason why a peer was left out of a group, or may not know that it is a member.
public enum InviteFailure: Sendable, Hashable {
    /// No usable key package was found, for this reason.
    case keyPackage(KeyPackageVerdict)
    /// The peer is a member, but every relay refused its invitation; the reason is a relay's.
    case welcomeRefused(reason: String)
}

/// A message to be sent: an inner event without author and time.
public struct OutgoingMessage: Sendable, Hashable {
    /// The inner event's kind.
    public var kind: Kind
    /// The inner event's content.
    public var content: String
    /// The inner event's tags.
    public var tags: [Tag]

    /// Creates a message, by default a chat message (kind 9) without tags.
    public init(kind: Kind = .chatMessage, content: String, tags: [Tag] = []) {
        self.kind = kind
        self.content = content
        self.tags = tags
    }

    /// Returns a chat message, optionally in reply to another: tags e, p, k in Pika's order
    /// (docs/protocol/marmot.md §8.1).
    public static func text(_ content: String, replyingTo target: MessageEvent? = nil) -> OutgoingMessage {
        guard let target else { return OutgoingMessage(content: content) }
        return OutgoingMessage(
            content: content,
            tags: [
                Tag("e", target.id.hex), Tag("p", target.sender.hex, ""), Tag("k", String(target.kind.rawValue)),
            ])
    }

    /// Returns a reaction (kind 7) with an emoji.
    public static func reaction(_ emoji: String, to target: EventID) -> OutgoingMessage {
        OutgoingMessage(kind: .reaction, content: emoji, tags: [Tag("e", target.hex)])
    }
}

/// Identifies one dispatched action, so that its outcome can be recognised.
public struct RequestID: Hashable, Sendable, RawRepresentable {
    /// The id as text.
    public let rawValue: String

    /// Creates an id from any text.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Returns the id of an action that is idempotent across restarts: if an action with this key has succeeded, or is
    /// in progress, a repeated one does nothing and ends with the same outcome. Failures are forgotten.
    ///
    /// The newest 1,024 keys are kept.
    public static func once(_ key: String) -> RequestID { RequestID(rawValue: Self.oncePrefix + key) }

    private static let oncePrefix = "once/"

    /// The key of an id that ``once(_:)`` made; nil for other ids.
    var onceKey: String? {
        self.rawValue.hasPrefix(Self.oncePrefix) ? String(self.rawValue.dropFirst(Self.oncePrefix.count)) : nil
    }
}

/// The outcome of a dispatched action.
public enum ActionOutcome: Sendable, Hashable {
    /// Done; with the chat id for actions about a chat.
    case done(chatID: ChatID?)
    /// Done, except for these peers.
    case partlyDone(chatID: ChatID, left: [PublicKey: InviteFailure])
    /// A search for key packages has ended, with a verdict for each peer.
    case found([PublicKey: KeyPackageVerdict])
    /// A message was sealed and stored for sending: the inner event's id, and that of the kind 445 event.
    /// ``AppUpdate/delivery(rev:chatID:messageID:_:)`` reports its delivery.
    case queued(messageID: EventID, wrapper: EventID)
    /// The action failed.
    case failed(AppCoreError)
}
