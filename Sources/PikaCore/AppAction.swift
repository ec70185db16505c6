public import Nostr

/// Everything that a user, a command or a bot runtime may ask of the core. ``AppCore/dispatch(_:request:)`` enqueues
/// it; results come as state, and as ``AppUpdate/finished(rev:request:outcome:)`` for those who gave a request id.
public enum AppAction: Sendable, Hashable {
    // Navigation
    case pushScreen(AppState.Screen)
    case popScreen
    /// Replaces everything that was pushed.
    case setScreens([AppState.Screen])
    case openChat(chatID: String)
    /// Reads `limit` more messages into the open chat, those before its oldest.
    case loadOlderMessages(chatID: String, limit: Int = 50)
    case clearToast
    /// Somebody looks again: relays that are away are tried at once.
    case foregrounded
    /// Other relays, policies and limits from now on. A running core keeps its ``CoreConfiguration/client``,
    /// ``CoreConfiguration/keepsInbox`` and ``CoreConfiguration/detectsCopies``: if one of them differs, the action
    /// fails, names it, and changes nothing.
    case reloadConfiguration(CoreConfiguration)

    // Session: performed by ``AppSession``, which runs one account's core at a time
    /// A fresh key; it is handed out once, by ``AppUpdate/accountCreated(rev:secretKey:)``.
    case createAccount(name: String?)
    case login(LoginCredential)
    /// Goes on with the account that was logged in last.
    case restoreSession
    /// Ends the session; the account's state stays, its key goes.
    case logout
    /// Deletes the account's key and everything that is stored of it.
    case wipeLocalData

    // People
    /// Writes this account's profile (kind 0); fields that are not named stay as they are.
    case saveProfile(ProfileDraft)
    /// Reads this account's profile, its follow list and its chats' members' profiles from the relays again.
    case refreshProfile
    case openPeerProfile(PublicKey)
    case closePeerProfile
    case follow(PublicKey)
    case unfollow(PublicKey)

    // Account
    /// Announces the current key package again, or a fresh one when it nears its expiry. Ends once it is queued;
    /// ``AppState/keyPackage`` tells each relay's answer.
    case publishKeyPackage
    /// Looks for the key packages of these peers; ends with ``ActionOutcome/found(_:)``.
    case findKeyPackages([PublicKey])

    // Chats
    /// Founds a group with these peers, found by their key packages on the relays; this account is its admin.
    case createGroupChat(name: String, peers: [PublicKey], missing: MissingPeers = .fail)
    /// Founds a 1:1 chat: a group with both as admins; one of another name than `DM` shows as a group.
    case createChat(peer: PublicKey, name: String = "DM")
    case addGroupMembers(chatID: String, peers: [PublicKey], missing: MissingPeers = .fail)
    case removeGroupMembers(chatID: String, peers: [PublicKey])
    case renameGroup(chatID: String, name: String)
    case setGroupDescription(chatID: String, description: String)
    /// The relays that carry the group's events from then on; the change itself goes to those of before.
    case setGroupRelays(chatID: String, relays: [RelayURL])
    /// All admins of the group; they must be members.
    case setGroupAdmins(chatID: String, admins: [PublicKey])
    /// Gives this account's role as an admin up; another member must have it.
    case selfDemote(chatID: String)
    /// Gives the group another public id, so that outsiders cannot tell that it is the same. Its chat id changes too.
    case rotateGroupID(chatID: String)
    /// Requires of all members that they can leave by themselves, once everybody's client supports it (MIP-03).
    case upgradeGroup(chatID: String)
    /// Seconds after which messages are deleted everywhere; nil for never. MDK up to 0.8 cannot read a group that has
    /// such a timer.
    case setDisappearingMessages(chatID: String, seconds: UInt64?)
    /// New keys for this account in the group.
    case updateGroupKeys(chatID: String)
    /// Leaves the group; an admin gives up that role first. Done when a relay has this account's proposal: from then on
    /// the chat shows as ``AppState/ChatEnd/left``, nothing can be sent, and the proposal is repeated until another
    /// member executes it.
    case leaveGroup(chatID: String)
    /// Encrypts and uploads a picture for the group, then commits it; nil takes the group's picture away.
    case setGroupImage(chatID: String, OutgoingImage?)
    /// Accepts an invitation that the policy left open.
    case acceptInvite(wrapper: EventID)
    case declineInvite(wrapper: EventID)

    /// What this account calls itself in this group only (kind 0 inside the group, wire §8.0).
    case saveGroupProfile(chatID: String, ProfileDraft)
    /// Archived chats stay members of their groups; a new message brings them back.
    case archiveChat(chatID: String, Bool)

    // Messages
    case sendMessage(chatID: String, OutgoingMessage)
    case reactToMessage(chatID: String, messageID: EventID, emoji: String)
    /// Encrypts files, uploads them and sends a message that refers to them. An upload under way ends with the process.
    case sendMedia(chatID: String, OutgoingMedia)

    /// Reads a file of a message into the media cache of the host.
    case downloadChatMedia(chatID: String, messageID: EventID, index: Int)
    /// Sends a message again that no relay has taken.
    case retryMessage(chatID: String, messageID: EventID)
    /// Somebody types; others are told at most every 5 s.
    case typingStarted(chatID: String)
    case sendHypernote(chatID: String, Hypernote)
    /// Answers a hypernote: the action's name and the form as it is filled in.
    case hypernoteAction(chatID: String, hypernote: EventID, action: String, form: [String: String])

    // Calls
    /// Invites a member to a call: the other one of a chat, or `peer` in a larger group.
    ///
    /// Without a `callID` one is made and appended to the session's broadcast base; with one, the base is taken as it
    /// is. An empty address or base is taken from ``CoreConfiguration/calls``, empty tracks are one of sound, and an
    /// empty token is derived. Ends when the invitation is queued; what becomes of it shows in
    /// ``AppState/activeCall``.
    case startCall(chatID: String, session: CallSession, callID: String? = nil, peer: PublicKey? = nil)
    /// As ``startCall(chatID:session:callID:peer:)``, with a video track beside the others.
    case startVideoCall(chatID: String, session: CallSession, callID: String? = nil, peer: PublicKey? = nil)
    /// Accepts the call that rings; fails with ``AppCoreError/Code/unknownCall`` if it is another one.
    case acceptCall(chatID: String, callID: String)
    case toggleMute
    case toggleCamera
    /// Refuses the call that rings; reasons are free text, such as `declined`.
    case rejectCall(chatID: String, callID: String, reason: String)
    /// Ends the call under way, answered or not.
    case endCall(chatID: String, callID: String, reason: String)
}

/// What to do when some peers have no usable key package.
public enum MissingPeers: Sendable, Hashable {
    /// Nothing: the action fails and names them.
    case fail
    /// Go on without them; the action ends with ``ActionOutcome/partlyDone(chatID:left:)``.
    case goOnWithout
}

/// Why a peer was left out of a group, or may not know that it is in it.
public enum LeftOut: Sendable, Hashable {
    case keyPackage(KeyPackageVerdict)
    /// It is a member, but every relay refused its invitation; the reason is a relay's.
    case welcomeRefused(reason: String)
}

/// A message before it is sent: an inner event without author and time.
public struct OutgoingMessage: Sendable, Hashable {
    public var kind: Kind
    public var content: String
    public var tags: [Tag]

    public init(kind: Kind = .chatMessage, content: String, tags: [Tag] = []) {
        self.kind = kind
        self.content = content
        self.tags = tags
    }

    /// A chat message, in reply to another if one is given: tags e, p, k in Pika's order (wire §8.0).
    public static func text(_ content: String, replyingTo target: MessageEvent? = nil) -> OutgoingMessage {
        guard let target else { return OutgoingMessage(content: content) }
        return OutgoingMessage(
            content: content,
            tags: [
                Tag("e", target.id.hex), Tag("p", target.sender.hex, ""), Tag("k", String(target.kind.rawValue)),
            ])
    }

    /// A reaction (kind 7) with an emoji.
    public static func reaction(_ emoji: String, to target: EventID) -> OutgoingMessage {
        OutgoingMessage(kind: .reaction, content: emoji, tags: [Tag("e", target.hex)])
    }
}

/// Names one dispatched action, so that its outcome can be recognised.
public struct RequestID: Hashable, Sendable, RawRepresentable {
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The id of an action that is to be done once, also across restarts: when one with this key has succeeded, or
    /// its outcome is on the way, another one does nothing and ends with the same outcome. Failures are forgotten.
    ///
    /// The newest 1,024 keys are kept.
    public static func once(_ key: String) -> RequestID { RequestID(rawValue: Self.oncePrefix + key) }

    private static let oncePrefix = "once/"

    /// The key, of an id that ``once(_:)`` made.
    var onceKey: String? {
        self.rawValue.hasPrefix(Self.oncePrefix) ? String(self.rawValue.dropFirst(Self.oncePrefix.count)) : nil
    }
}

/// How a dispatched action ended.
public enum ActionOutcome: Sendable, Hashable {
    /// Done; for actions about a chat its id.
    case done(chatID: String?)
    /// Done, but for these peers.
    case partlyDone(chatID: String, left: [PublicKey: LeftOut])
    /// A search for key packages has ended, with a verdict for each peer.
    case found([PublicKey: KeyPackageVerdict])
    /// A message was sealed and stored for sending: the inner event's id, and that of the kind 445 event.
    /// ``AppUpdate/delivery(rev:chatID:messageID:_:)`` tells what became of it.
    case queued(messageID: EventID, wrapper: EventID)
    case failed(AppCoreError)
}
