package import MLS
package import Nostr

/// The durable store of one account, as the core needs it.
///
/// Each batch of core inputs makes one call of ``commit(_:)``: its changes become durable together or not at all. After
/// a failed commit the same core must not use the store again.
package protocol CoreStore: Sendable {
    /// The crash-safe journal beside the store: records in-flight work before it starts, and the quarantine.
    var crashes: CrashLedger { get }

    /// Loads everything that the core keeps in memory, except quarantined rows.
    func load() async throws -> StoredState

    /// Makes all changes durable in one transaction, in order; returns when they are on disk.
    func commit(_ changes: [StoreChange]) async throws

    /// Whether ``commit(_:)`` returns at once, so that the core gains nothing from working meanwhile.
    var commitsAtOnce: Bool { get }

    /// Returns at most `limit` messages of a group that are older than `before`, newest first, without withdrawn ones.
    func messages(in groupID: GroupID, before: StoredMessage.Position?, limit: Int) async throws -> [StoredMessage]

    /// Returns the messages that were sent at these points of a group's history, oldest first, withdrawn or not.
    func messages(in groupID: GroupID, atPoints points: [Bytes32]) async throws -> [StoredMessage]

    /// Returns one message of a group; nil if it is not stored.
    func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage?

    /// Returns the earliest ``StoredMessage/expiresAt`` of all messages; nil if no message expires.
    func nextExpiry() async throws -> UnixTime?

    /// Returns the number of messages that a rule would delete, counted up to `limit`.
    func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int

    /// Returns a value that ``StoreChange/putValue(scope:key:value:)`` wrote; nil if absent.
    func value(scope: String, key: String) async throws -> [UInt8]?

    /// Returns the files of a message that ``StoreChange/putMedia(_:)`` wrote, by index; empty if the message is
    /// deleted.
    func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia]
}

extension CoreStore {
    /// For stores whose process is not restarted after a crash.
    package var crashes: CrashLedger { .off }

    package var commitsAtOnce: Bool { false }
}

/// The content of a store when a core starts.
package struct StoredState: Sendable {
    package var keyPackages: [StoredKeyPackage] = []
    package var groups: [StoredGroup] = []
    /// Events that could not be decrypted yet, oldest first.
    package var waiting: [WaitingEvent] = []
    /// Opened invitations that were neither accepted nor declined, oldest first.
    package var invites: [StoredInvite] = []
    /// Events not yet completed by the handlers, in order.
    package var inbox: [InboxRow] = []
    /// Events that some of their relays still lack and that were not dropped, in order.
    package var outbox: [OutboxRow] = []
    /// The cursors' values, by name: relays' times in Unix seconds, and counters.
    package var cursors: [String: Int64] = [:]
    /// The ids of the events processed most recently, newest first, at most 50,000.
    package var seen: [EventID] = []
    /// The ids of the events refused most recently, newest first, at most 20,000.
    package var refused: [EventID] = []
    package var memos: [MemoName: Secret] = [:]
    package var instance = StoredInstance()

    package init() {}
}

/// A key package of this account that is, or was, published.
package struct StoredKeyPackage: Sendable, Hashable {
    /// KeyPackageRef (RFC 9420 §5.2).
    package var reference: [UInt8]
    /// The private bundle in ``MLS/KeyPackageBundle``'s stored form.
    package var bundle: Secret
    /// The `d` tag of kind 30443: 64 hex digits.
    package var slot: String
    /// The time of creation.
    package var createdAt: UnixTime
    /// The time after which the key package must not be used.
    package var notAfter: UnixTime

    package init(reference: [UInt8], bundle: Secret, slot: String, createdAt: UnixTime, notAfter: UnixTime) {
        self.reference = reference
        self.bundle = bundle
        self.slot = slot
        self.createdAt = createdAt
        self.notAfter = notAfter
    }

    package static func == (left: StoredKeyPackage, right: StoredKeyPackage) -> Bool {
        left.reference == right.reference
    }
    package func hash(into hasher: inout Hasher) { hasher.combine(self.reference) }
}

/// A group's state as the store keeps it.
package struct StoredGroup: Sendable {
    /// Names the stored state, one of several that a group may have; not its group id.
    package var key: [UInt8]
    /// Marmot's part of the group state; secret.
    package var header: Secret
    /// The MLS group state, record by record; secret.
    package var records: [GroupRecord: Secret]

    package init(key: [UInt8], header: Secret, records: [GroupRecord: Secret]) {
        self.key = key
        self.header = header
        self.records = records
    }
}

/// A stored message: the inner event and its delivery metadata.
package struct StoredMessage: Sendable, Hashable {
    /// The sort key of a message in its group's history.
    package struct Position: Sendable, Hashable, Comparable {
        package var createdAt: UnixTime
        package var id: EventID

        package init(createdAt: UnixTime, id: EventID) {
            self.createdAt = createdAt
            self.id = id
        }

        package static func < (left: Position, right: Position) -> Bool {
            (left.createdAt, left.id) < (right.createdAt, right.id)
        }
    }

    package var groupID: GroupID
    /// The inner event; its id is the message's id. Private: sealed at rest.
    package var rumor: UnsignedEvent
    /// The id of ``rumor``, kept because computing it costs a hash.
    package var id: EventID
    /// The kind 445 event that carried it.
    package var wrapper: EventID
    package var epoch: Epoch
    package var isOwn: Bool
    /// The time after which it is to be deleted; nil if it never expires.
    package var expiresAt: UnixTime?

    /// The time used for ordering and retention: the rumor's time, unless that is far from the time of arrival.
    package var time: UnixTime
    /// The id of the point in the group's history at which it was sent; nil in the first generation.
    package var point: Bytes32?

    /// ``epoch`` as a number.
    package var epochNumber: UInt64 { self.epoch.rawValue }

    package var position: Position { Position(createdAt: self.time, id: self.id) }

    package init(
        groupID: GroupID, rumor: UnsignedEvent, id: EventID, wrapper: EventID, epoch: Epoch, isOwn: Bool,
        expiresAt: UnixTime? = nil, time: UnixTime? = nil, point: Bytes32? = nil
    ) {
        self.groupID = groupID
        self.point = point
        self.time = time ?? rumor.createdAt
        self.rumor = rumor
        self.id = id
        self.wrapper = wrapper
        self.epoch = epoch
        self.isOwn = isOwn
        self.expiresAt = expiresAt
    }
}

/// A file of a message: its reference and its keys.
package struct StoredMedia: Sendable, Hashable {
    package var groupID: GroupID
    package var messageID: EventID
    /// The file's position among the files of the message.
    package var index: Int
    /// The `imeta` tag. Private: sealed at rest.
    package var reference: Tag
    /// Candidate keys, the most likely first. Private: sealed at rest.
    package var keys: [Secret]

    package init(groupID: GroupID, messageID: EventID, index: Int, reference: Tag, keys: [Secret]) {
        self.groupID = groupID
        self.messageID = messageID
        self.index = index
        self.reference = reference
        self.keys = keys
    }

    package static func == (left: StoredMedia, right: StoredMedia) -> Bool {
        left.groupID == right.groupID && left.messageID == right.messageID && left.index == right.index
            && left.reference == right.reference && left.keys == right.keys
    }
    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.messageID)
        hasher.combine(self.index)
    }
}

/// A kind 445 event that could not be opened on arrival: kept and retried after every epoch change.
package struct WaitingEvent: Sendable, Hashable {
    package var event: Event
    /// The time of arrival.
    package var arrivedAt: UnixTime

    package init(event: Event, arrivedAt: UnixTime) {
        self.event = event
        self.arrivedAt = arrivedAt
    }
}

/// An invitation from an opened gift wrap.
package struct StoredInvite: Sendable, Hashable {
    /// The kind 1059 event.
    package var wrapper: EventID
    /// The kind 444 inner event. Private: sealed at rest.
    package var rumor: UnsignedEvent

    package init(wrapper: EventID, rumor: UnsignedEvent) {
        self.wrapper = wrapper
        self.rumor = rumor
    }
}

/// An event waiting for the handlers.
package struct InboxRow: Sendable, Hashable {
    /// The row's id; ascending, never reused.
    package var id: Int64
    /// The event, encoded in a form that only the core reads. Private: sealed at rest.
    package var payload: [UInt8]

    package init(id: Int64, payload: [UInt8]) {
        self.id = id
        self.payload = payload
    }
}

/// A signed event to be published to relays.
package struct OutboxRow: Sendable, Hashable {
    package enum Purpose: String, Sendable, CaseIterable {
        case message
        /// A typing notice: useless after a few seconds, so it is not kept.
        case typing
        /// Useful for half a minute; tried four times.
        case callSignal = "call_signal"
        case proposal
        case commit
        case welcome
        case keyPackage = "key_package"
        case relayList = "relay_list"
        case deletion
        /// This account's profile (kind 0).
        case profile
        /// This account's follow list (kind 3).
        case followList = "follow_list"
        /// A notice of which copy of this account is running.
        case instance
        /// A request to a push server: useful for a short time, so it is tried four times.
        case notification
        /// A key package or relay list for the relays of this account's other programs; repeated with each announcement,
        /// so it is tried four times.
        case offer

        /// Whether the event is tried only a few times, in quick succession.
        var isBrief: Bool { self == .callSignal || self == .notification || self == .offer }
    }

    /// The remaining deliveries of an event that at least one relay has.
    package struct Leftover: Sendable, Hashable {
        /// The time when the first relay acknowledged it.
        package var settledAt: UnixTime
        /// Relays still to be tried. One of them may have the event already, if the process ended before recording it.
        package var relays: [RelayURL]

        package init(settledAt: UnixTime, relays: [RelayURL]) {
            self.settledAt = settledAt
            self.relays = relays
        }
    }

    /// Stable: the same cause gives the same id, so that queueing is idempotent.
    package var id: String
    /// Ascending; the rows of one group are published in this order.
    package var sequence: Int64
    package var event: Event
    package var relays: [RelayURL]
    package var purpose: Purpose
    /// The MLS group id, if the event belongs to a group.
    package var groupID: GroupID?
    /// The inner event's id, if the event is a message.
    package var messageID: EventID?
    package var attempts: Int
    /// The remaining deliveries; nil until a relay has the event.
    package var leftover: Leftover?

    package init(
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

/// Names a small record of a kind that needs no table of its own. Private: sealed at rest.
package struct MemoName: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// A group change that is waiting to be committed, or was committed recently; the key is its number.
        case groupIntent = "group_intent"
        /// This account's messages of a group that must be sealed again; the key is the group id.
        case reseal
        /// The age of this account's keys in a group; the key is the group id.
        case keyAge = "key_age"
        /// The announcements and uses of one of this account's key packages; the key is its reference.
        case keyPackage = "key_package"
        /// The signature key of this account's leaves in the second generation; the key is empty.
        case deviceKey = "device_key"
        /// One of this account's relay lists; the key is its kind, big-endian.
        case relayList = "relay_list"
        /// The relays where a peer expects Welcomes, kept while one is due; the key is the peer's public key.
        case peerRelays = "peer_relays"
        /// The group's description in an invitation; the key is the wrapper's id.
        case invitePreview = "invite_preview"
        /// The secrets that file keys are derived from, for a few epochs of a group; the key is the group id.
        case mediaSecrets = "media_secrets"
        /// A task waiting for the account's remote signer; the key is its number.
        case keyTask = "key_task"
        /// The notice this copy has published about itself, while a remote signer holds the account's key; the key is
        /// empty.
        case copyNotice = "copy_notice"
        /// A group whose keys another copy of this account has too; the key is the group id.
        case copiedGroup = "copied_group"
        /// The current call; the key is empty.
        case liveCall = "live_call"
        /// Recent call events; the key is empty.
        case callTimeline = "call_timeline"
        /// A handler's action whose outcome is not known yet; the key is the digest of its id.
        case pendingAction = "pending_action"
        /// The outcome of a once-only action; the key is the digest of the action's key.
        case answer
        /// A chat's entry in the chat list; the key is the group id.
        case chat
        /// A message of this account whose sending failed; the key is a digest of group and message.
        case failedMessage = "failed_message"
        /// A profile event (kind 0) as received; the key is its author's public key.
        case profile
        /// This account's follow list (kind 3) as received; the key is empty.
        case followList = "follow_list"
        /// The rollbacks of a group and the back-off after them; the key is the group id.
        case rollbacks
        /// A member's profile in a group; the key is the group id and the member's public key.
        case groupProfile = "group_profile"
        /// This account's push token, and whether it notifies others; the key is empty.
        case pushSettings = "push_settings"
        /// The push tokens of one leaf of a group; the key is the group id and the leaf, 4 bytes big-endian.
        case pushRoutes = "push_routes"
        /// The kind 445 event of an undecided or undoable message of the second generation; the key is the group id and
        /// the SHA-256 of the MLSMessage.
        case carrierEvent = "carrier_event"
        /// Withdrawn messages of a group, and changes of its history that are still to be announced; the key is the group
        /// id.
        case withdrawal
        /// A message of this account that waits until nothing is undecided; the key is the group id and its number, 8
        /// bytes big-endian.
        case heldMessage = "held_message"
        /// The id of a recent item of a feed; the key is the feed's name, a zero and a slot, 2 bytes big-endian.
        case feedItem = "feed_item"
        /// The use of a group's present state, while other states of the group are known; the key is the group id.
        case otherStates = "other_states"
        /// A disbanded group, kept permanently; the key is the group id.
        case tombstone
    }

    package var kind: Kind
    package var key: [UInt8]

    package init(_ kind: Kind, _ key: [UInt8]) {
        self.kind = kind
        self.key = key
    }

    /// Names a record about a group.
    package init(_ kind: Kind, _ groupID: GroupID) {
        self.init(kind, groupID.bytes)
    }
}

/// One change to the durable store.
package enum StoreChange: Sendable {
    case putKeyPackage(StoredKeyPackage)
    case deleteKeyPackage(reference: [UInt8])
    /// Writes Marmot's part of a group's state.
    case putGroupHeader(key: [UInt8], header: Secret)
    /// Writes and deletes records of the MLS group; `replacesAll` deletes all other records first.
    case updateGroup(key: [UInt8], GroupStorageChanges)
    case deleteGroup(key: [UInt8])
    /// Idempotent: a second message with the same group and id changes nothing.
    case putMessage(StoredMessage)
    /// Records that a stored message was sent again, in another epoch and event, perhaps with another expiry. A withdrawn one
    /// is shown again.
    case moveMessage(StoredMessage)
    /// Hides the messages of these points of a group's history from ``CoreStore/messages(in:before:limit:)``. They expire
    /// and are deleted as others are.
    case withdrawMessages(groupID: GroupID, points: [Bytes32])
    /// Shows the messages of these points again.
    case restoreMessages(groupID: GroupID, points: [Bytes32])
    /// As ``moveMessage(_:)``, if the stored message is withdrawn; otherwise changes nothing.
    case reviveMessage(StoredMessage)
    /// Deletes the messages whose ``StoredMessage/expiresAt`` is at or before this time.
    case deleteExpired(at: UnixTime)
    /// Must follow the ``putMessage(_:)`` of its message, and is deleted with it. A second file with the same message
    /// and index changes nothing.
    case putMedia(StoredMedia)
    case putSeen(EventID, at: UnixTime)
    /// As ``putSeen(_:at:)``, for a refused event: refused ids have their own limit.
    case putRefused(EventID, at: UnixTime)
    case putWaiting(WaitingEvent)
    case deleteWaiting(EventID)
    case putInvite(StoredInvite)
    case deleteInvite(wrapper: EventID)
    case putInbox(InboxRow)
    case deleteInbox(id: Int64)
    /// Idempotent: a second row with the same id changes nothing.
    case putOutbox(OutboxRow)
    case countOutboxAttempt(id: String)
    /// A first relay has the row's event; only these others still lack it.
    case settleOutbox(id: String, OutboxRow.Leftover)
    /// Removes a row that all relays have, or that was dropped.
    case deleteOutbox(id: String)
    /// Moves a cursor forward; a smaller value than the stored one changes nothing.
    case advanceCursor(name: String, to: Int64)
    /// Writes a value, or deletes it when nil. Private: sealed at rest.
    case putValue(scope: String, key: String, value: [UInt8]?)
    /// Writes a memo, or deletes it when nil.
    case putMemo(MemoName, Secret?)
    /// Deletes at most `limit` of the messages that a rule matches.
    case deleteSurplus(MessageSurplus, limit: Int)
    /// Records that the core has handled the restore (``StoredInstance/isRestored``).
    case markRestoreHandled
    /// Deletes a quarantined row (``CrashSubject/row(table:key:)``); an unknown table or key changes nothing.
    case dropRow(table: String, key: String)
    /// Makes this state another copy (``StoredInstance/id``, ``StoredInstance/generation``).
    case putInstance(StoredInstance)
}
