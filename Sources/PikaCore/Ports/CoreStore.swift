public import MLS
public import Nostr

/// The durable memory of one account, as the core needs it.
///
/// One input of the core is one call of ``commit(_:)``: all of its changes become durable together, or none.
/// After a failed commit the store must not be used by the same core again.
public protocol CoreStore: Sendable {
    /// The crash-safe journal beside the store: what the core notes before it works on it, and what is set aside.
    var crashes: CrashLedger { get }

    /// Everything that the core keeps in memory, without the rows that are set aside.
    func load() async throws -> StoredState

    /// Makes all changes durable in one transaction, in order; returns when they are on disk.
    func commit(_ changes: [StoreChange]) async throws

    /// Messages of a group, newest first, older than `before` (a position of ``StoredMessage``), at most `limit`.
    func messages(in groupID: GroupID, before: StoredMessage.Position?, limit: Int) async throws -> [StoredMessage]

    /// One message of a group; nil if it is not stored.
    func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage?

    /// The earliest ``StoredMessage/expiresAt`` of all messages; nil if none ends.
    func nextExpiry() async throws -> Int64?

    /// How many messages a rule would delete, counted up to `limit`.
    func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int

    /// A value that ``StoreChange/putValue(scope:key:value:)`` wrote; nil if there is none.
    func value(scope: String, key: String) async throws -> [UInt8]?

    /// The files of a message that ``StoreChange/putMedia(_:)`` wrote, by index; none if the message is gone.
    func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia]
}

extension CoreStore {
    /// For stores whose processes nobody starts again.
    public var crashes: CrashLedger { .off }
}

/// What a store holds when a core starts.
public struct StoredState: Sendable {
    public var keyPackages: [StoredKeyPackage] = []
    public var groups: [StoredGroup] = []
    /// Events that could not be decrypted yet, oldest first.
    public var waiting: [WaitingEvent] = []
    /// Invitations that were opened and neither accepted nor declined, oldest first.
    public var invites: [StoredInvite] = []
    /// Rows that no handler has finished, in order.
    public var inbox: [InboxRow] = []
    /// Rows that not all of their relays have and that were not given up, in order.
    public var outbox: [OutboxRow] = []
    /// Unix seconds by cursor name.
    public var cursors: [String: Int64] = [:]
    /// The ids of the events processed last, newest first, at most 50,000.
    public var seen: [EventID] = []
    /// The ids of the events refused last, newest first, at most 20,000.
    public var refused: [EventID] = []
    public var memos: [MemoName: Secret] = [:]
    public var instance = StoredInstance()

    public init() {}
}

/// A key package of one's own that is, or was, published.
public struct StoredKeyPackage: Sendable, Hashable {
    /// KeyPackageRef (RFC 9420 §5.2).
    public var reference: [UInt8]
    /// The private bundle in ``MLS/KeyPackageBundle``'s stored form.
    public var bundle: Secret
    /// The `d` tag of kind 30443: 64 hex digits.
    public var slot: String
    /// Unix seconds.
    public var createdAt: Int64
    /// Unix seconds after which it must not be used.
    public var notAfter: Int64

    public init(reference: [UInt8], bundle: Secret, slot: String, createdAt: Int64, notAfter: Int64) {
        self.reference = reference
        self.bundle = bundle
        self.slot = slot
        self.createdAt = createdAt
        self.notAfter = notAfter
    }

    public static func == (left: StoredKeyPackage, right: StoredKeyPackage) -> Bool {
        left.reference == right.reference
    }
    public func hash(into hasher: inout Hasher) { hasher.combine(self.reference) }
}

/// A group as the store holds it.
public struct StoredGroup: Sendable {
    /// Names the group, or a part that belongs to it.
    public var groupID: [UInt8]
    /// Marmot's own part, secret.
    public var header: Secret
    /// The MLS part, record by record, secret.
    public var records: [GroupRecord: Secret]

    public init(groupID: [UInt8], header: Secret, records: [GroupRecord: Secret]) {
        self.groupID = groupID
        self.header = header
        self.records = records
    }
}

/// A message as it is kept: the inner event and how it came.
public struct StoredMessage: Sendable, Hashable {
    /// Where a message stands in its group's history.
    public struct Position: Sendable, Hashable, Comparable {
        public var createdAt: Int64
        public var id: EventID

        public init(createdAt: Int64, id: EventID) {
            self.createdAt = createdAt
            self.id = id
        }

        public static func < (left: Position, right: Position) -> Bool {
            (left.createdAt, left.id) < (right.createdAt, right.id)
        }
    }

    public var groupID: GroupID
    /// The inner event; its id is the message's id. Private: sealed at rest.
    public var rumor: UnsignedEvent
    /// The id of ``rumor``, kept because computing it costs a hash.
    public var id: EventID
    /// The kind 445 event that carried it.
    public var wrapper: EventID
    public var epoch: Epoch
    public var isOwn: Bool
    /// Unix seconds after which it is to be deleted; nil if it stays.
    public var expiresAt: Int64?

    /// Unix seconds by which it is ordered and kept: the rumor's time, unless that is far from when it arrived.
    public var time: Int64

    public var position: Position { Position(createdAt: self.time, id: self.id) }

    public init(
        groupID: GroupID, rumor: UnsignedEvent, id: EventID, wrapper: EventID, epoch: Epoch, isOwn: Bool,
        expiresAt: Int64? = nil, time: Int64? = nil
    ) {
        self.groupID = groupID
        self.time = time ?? rumor.createdAt
        self.rumor = rumor
        self.id = id
        self.wrapper = wrapper
        self.epoch = epoch
        self.isOwn = isOwn
        self.expiresAt = expiresAt
    }
}

/// A file of a message: where it is, and what opens it.
public struct StoredMedia: Sendable, Hashable {
    public var groupID: GroupID
    public var messageID: EventID
    /// Its place among the files of the message.
    public var index: Int
    /// The `imeta` tag. Private: sealed at rest.
    public var reference: Tag
    /// The likeliest first. Private: sealed at rest.
    public var keys: [Secret]

    public init(groupID: GroupID, messageID: EventID, index: Int, reference: Tag, keys: [Secret]) {
        self.groupID = groupID
        self.messageID = messageID
        self.index = index
        self.reference = reference
        self.keys = keys
    }

    public static func == (left: StoredMedia, right: StoredMedia) -> Bool {
        left.groupID == right.groupID && left.messageID == right.messageID && left.index == right.index
            && left.reference == right.reference && left.keys == right.keys
    }
    public func hash(into hasher: inout Hasher) {
        hasher.combine(self.messageID)
        hasher.combine(self.index)
    }
}

/// A kind 445 event that could not be opened when it came: kept and tried again after every epoch change.
public struct WaitingEvent: Sendable, Hashable {
    public var event: Event
    /// Unix seconds of its arrival.
    public var arrivedAt: Int64

    public init(event: Event, arrivedAt: Int64) {
        self.event = event
        self.arrivedAt = arrivedAt
    }
}

/// An opened gift wrap with an invitation.
public struct StoredInvite: Sendable, Hashable {
    /// The kind 1059 event.
    public var wrapper: EventID
    /// The kind 444 inner event. Private: sealed at rest.
    public var rumor: UnsignedEvent

    public init(wrapper: EventID, rumor: UnsignedEvent) {
        self.wrapper = wrapper
        self.rumor = rumor
    }
}

/// Something that happened and waits for the handlers.
public struct InboxRow: Sendable, Hashable {
    /// Ascending without reuse.
    public var id: Int64
    /// The event in a form that only the core reads. Private: sealed at rest.
    public var payload: [UInt8]

    public init(id: Int64, payload: [UInt8]) {
        self.id = id
        self.payload = payload
    }
}

/// A signed event on its way to relays.
public struct OutboxRow: Sendable, Hashable {
    public enum Purpose: String, Sendable, CaseIterable {
        case message
        /// Tells that somebody types: of no use a few seconds later, so it is not kept.
        case typing
        /// Of use for half a minute, and tried four times.
        case callSignal = "call_signal"
        case proposal
        case commit
        case welcome
        case keyPackage = "key_package"
        case relayList = "relay_list"
        case deletion
        /// This account's profile (kind 0).
        case profile
        /// Whom it follows (kind 3).
        case followList = "follow_list"
        /// Which copy of this account runs.
        case instance
    }

    /// What is left to do for an event that one relay has.
    public struct Leftover: Sendable, Hashable {
        /// Unix seconds when the first relay had it.
        public var settledAt: Int64
        /// The relays that do not have it; one more of them may, if a process ended at the wrong moment.
        public var relays: [RelayURL]

        public init(settledAt: Int64, relays: [RelayURL]) {
            self.settledAt = settledAt
            self.relays = relays
        }
    }

    /// Stable: the same cause gives the same id, so a second attempt to queue it changes nothing.
    public var id: String
    /// Ascending; rows of one group leave in this order.
    public var sequence: Int64
    public var event: Event
    public var relays: [RelayURL]
    public var purpose: Purpose
    /// The MLS group id, if it belongs to one.
    public var groupID: GroupID?
    /// The inner event's id, for a message.
    public var messageID: EventID?
    public var attempts: Int
    /// Nil until a relay has the event.
    public var leftover: Leftover?

    public init(
        id: String, sequence: Int64, event: Event, relays: [RelayURL], purpose: Purpose, groupID: GroupID? = nil,
        messageID: EventID? = nil, attempts: Int = 0, leftover: Leftover? = nil
    ) {
        self.id = id
        self.sequence = sequence
        self.event = event
        self.relays = relays
        self.purpose = purpose
        self.groupID = groupID
        self.messageID = messageID
        self.attempts = attempts
        self.leftover = leftover
    }
}

/// Names a small thing that the core remembers; kinds that need no table of their own. Private: sealed at rest.
public struct MemoName: Sendable, Hashable {
    public enum Kind: String, Sendable, CaseIterable {
        /// A change to a group that is to be committed, or was lately; the key is its number.
        case groupIntent = "group_intent"
        /// Own messages of a group that have to be sealed again; the key is the group id.
        case reseal
        /// How old this account's keys in a group are; the key is the group id.
        case keyAge = "key_age"
        /// How a key package of one's own was announced and used; the key is its reference.
        case keyPackage = "key_package"
        /// A relay list of one's own; the key is its kind, big-endian.
        case relayList = "relay_list"
        /// Where a peer expects Welcomes, while one is due; the key is its public key.
        case peerRelays = "peer_relays"
        /// What an invitation says of its group; the key is the wrapper's id.
        case invitePreview = "invite_preview"
        /// What the keys of files come from, of a few epochs of a group; the key is the group id.
        case mediaSecrets = "media_secrets"
        /// Something that waits for the account's remote signer; the key is its number.
        case keyTask = "key_task"
        /// What this copy has told relays of itself, while its key is elsewhere; the key is empty.
        case copyNotice = "copy_notice"
        /// A group of which another copy of this account has the keys too; the key is the group id.
        case copiedGroup = "copied_group"
        /// The call that is not over; the key is empty.
        case liveCall = "live_call"
        /// What happened in calls lately; the key is empty.
        case callTimeline = "call_timeline"
        /// How an action ended that is to be done once; the key is the digest of its key.
        case answer
        /// What the list shows of a chat; the key is the group id.
        case chat
        /// An own message that does not go out; the key is a digest of group and message.
        case failedMessage = "failed_message"
        /// What somebody says of itself (kind 0), as it came; the key is its public key.
        case profile
        /// Whom this account follows (kind 3), as it came; the key is empty.
        case followList = "follow_list"
        /// The rollbacks of a group and the back-off after them; the key is the group id.
        case rollbacks
        /// What a member calls itself in a group; the key is the group id and its public key.
        case groupProfile = "group_profile"
    }

    public var kind: Kind
    public var key: [UInt8]

    public init(_ kind: Kind, _ key: [UInt8]) {
        self.kind = kind
        self.key = key
    }

    /// A memo about a group.
    public init(_ kind: Kind, _ groupID: GroupID) {
        self.init(kind, groupID.bytes)
    }
}

/// One change to the durable memory.
public enum StoreChange: Sendable {
    case putKeyPackage(StoredKeyPackage)
    case deleteKeyPackage(reference: [UInt8])
    /// Writes Marmot's part of a group.
    case putGroupHeader(groupID: [UInt8], header: Secret)
    /// Writes and deletes parts of the MLS group; `replacesAll` deletes all other parts first.
    case updateGroup(groupID: [UInt8], GroupStorageChanges)
    case deleteGroup(groupID: [UInt8])
    /// A second message with the same group and id changes nothing.
    case putMessage(StoredMessage)
    /// Notes that a stored message was sent anew, in another epoch and event.
    case moveMessage(StoredMessage)
    /// Deletes the messages whose ``StoredMessage/expiresAt`` is not after this time.
    case deleteExpired(at: Int64)
    /// Follows the ``putMessage(_:)`` of its message, and goes with it. A second one with the same message and index
    /// changes nothing.
    case putMedia(StoredMedia)
    case putSeen(EventID, at: Int64)
    /// As ``putSeen(_:at:)`` for an event that was refused: those are bounded apart.
    case putRefused(EventID, at: Int64)
    case putWaiting(WaitingEvent)
    case deleteWaiting(EventID)
    case putInvite(StoredInvite)
    case deleteInvite(wrapper: EventID)
    case putInbox(InboxRow)
    case deleteInbox(id: Int64)
    /// A second row with the same id changes nothing.
    case putOutbox(OutboxRow)
    case countOutboxAttempt(id: String)
    /// A relay has the row's event; only these others still lack it.
    case settleOutbox(id: String, OutboxRow.Leftover)
    /// Removes a row that all relays have, or that was given up.
    case deleteOutbox(id: String)
    /// Moves a cursor forward; a smaller value than the stored one changes nothing.
    case advanceCursor(name: String, to: Int64)
    /// Writes a value, or deletes it when nil. Private: sealed at rest.
    case putValue(scope: String, key: String, value: [UInt8]?)
    /// Writes a memo, or deletes it when nil.
    case putMemo(MemoName, Secret?)
    /// Deletes at most `limit` of the messages that a rule is about.
    case deleteSurplus(MessageSurplus, limit: Int)
    /// The core has taken note of the restore (``StoredInstance/isRestored``).
    case settleRestore
    /// Deletes a row that was set aside (``CrashSubject/row(table:key:)``); an unknown table or key changes nothing.
    case dropRow(table: String, key: String)
    /// From now on this state is another copy (``StoredInstance/id``, ``StoredInstance/generation``).
    case putInstance(StoredInstance)
}
