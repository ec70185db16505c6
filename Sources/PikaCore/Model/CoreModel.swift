import MLS
import Marmot
import Nostr

/// Everything that the core knows: the visible state and its bookkeeping. Changed by reducers only.
struct CoreModel: Sendable {
    let account: KeyPair
    let configuration: CoreConfiguration
    var state = AppState() { didSet { self.stateChanged = true } }
    /// Whether ``state`` changed since it was last published.
    var stateChanged = true
    var groups: [[UInt8]: MarmotGroup] = [:]
    /// MLS group ids by nostrGroupID, former ones included.
    var groupIDs: [Bytes32: [UInt8]] = [:]
    /// Groups with changes that are not among the step's changes yet.
    var dirtyGroups: Set<[UInt8]> = []
    var keyPackages: [StoredKeyPackage] = []
    var waiting: [[UInt8]: [WaitingEvent]] = [:]
    /// Live events that wait until older ones were read, in order of arrival.
    var held: [Held] = []
    /// Relays whose stored events are being read since they connected, and how often that failed.
    var catchingUp: Set<RelayURL> = []
    var failedReads: [RelayURL: Int] = [:]
    /// Searches for all events of a group that are under way.
    var reading: [[UInt8]: Int] = [:]
    var invites: [EventID: StoredInvite] = [:]
    var seen: SeenEvents
    var inbox: [Int64: CoreEvent] = [:]
    var lastInboxID: Int64
    var queue = PublishQueue()
    var lastSequence: Int64 = 0
    var cursors: [String: Int64]
    var operations: [Int: Operation] = [:]
    var lastOperation = 0

    /// A dispatched action that takes more than one turn.
    struct Operation: Sendable {
        enum Goal: Sendable {
            case createGroup(name: String, peers: [PublicKey], isDirect: Bool)
            case addMembers(groupID: [UInt8], peers: [PublicKey])
            /// A commit of this group is on its way; its event.
            case commit(groupID: [UInt8], event: EventID)
        }

        var goal: Goal
        let request: RequestID?
    }

    /// Group events that could not be opened and are kept for each group; older ones are given up.
    static let maximumWaiting = 1000

    /// Reads everything that was stored; what cannot be read is an error, not silence.
    init(account: KeyPair, configuration: CoreConfiguration, stored: StoredState) throws(AppCoreError) {
        self.account = account
        self.configuration = configuration
        self.seen = SeenEvents(capacity: 50_000, newestFirst: stored.seen)
        self.cursors = stored.cursors
        self.lastInboxID = max(stored.cursors[Self.inboxCursor] ?? 0, stored.inbox.map(\.id).max() ?? 0)
        self.keyPackages = stored.keyPackages
        for invite in stored.invites { self.invites[invite.wrapper] = invite }
        try self.restoreGroups(stored.groups)
        for waiting in stored.waiting {
            guard let id = try? GroupEvents.nostrGroupID(of: waiting.event), let group = self.groupIDs[id] else {
                continue
            }
            self.waiting[group, default: []].append(waiting)
        }
        for row in stored.inbox {
            guard let event = CoreEvent(inboxID: row.id, payload: row.payload) else {
                throw AppCoreError(.corruptState, "inbox row \(row.id) cannot be read")
            }
            self.inbox[row.id] = event
        }
        for row in stored.outbox {
            _ = self.queue.add(row)
            self.lastSequence = max(self.lastSequence, row.sequence)
        }
        self.state.auth = .loggedIn(account.publicKey)
        self.state.router.defaultScreen = .chatList
        self.state.relays = configuration.relays.map {
            AppState.RelayStatus(url: $0, connection: .disconnected, isCaughtUp: false)
        }
        self.state.invites = stored.invites.map { .init(wrapper: $0.wrapper, inviter: $0.rumor.pubkey) }
        self.state.outbox.pending = self.queue.count
        self.refreshChatList()
        self.refreshBusy()
    }

    static let inboxCursor = "inbox-id"

    private mutating func restoreGroups(_ stored: [StoredGroup]) throws(AppCoreError) {
        var pending: [StoredGroup] = []
        for group in stored {
            guard let key = StoredGroupKey(stored: group.groupID) else {
                throw AppCoreError(.corruptState, "a stored group has an unknown form")
            }
            guard !key.isPending else {
                pending.append(group)
                continue
            }
            do {
                let restored = try MarmotGroup(
                    header: group.header, records: group.records, account: self.account.publicKey)
                self.groups[key.groupID] = restored
                self.index(restored)
            } catch { throw AppCoreError(.corruptState, "a stored group cannot be read: \(error.message)") }
        }
        for group in pending {
            guard let key = StoredGroupKey(stored: group.groupID), var restored = self.groups[key.groupID] else {
                continue
            }
            do { try restored.restorePending(header: group.header, records: group.records) } catch {
                throw AppCoreError(.corruptState, "a stored commit cannot be read: \(error.message)")
            }
            self.groups[key.groupID] = restored
            if let event = restored.pending?.event.id {
                _ = self.begin(.commit(groupID: key.groupID, event: event), nil)
            }
        }
    }

    /// Routes a group's public ids to it. An id that another group of ours holds stays there: whoever invites us
    /// chooses the id of its group, and must not take over the events of another.
    mutating func index(_ group: MarmotGroup) {
        for id in [group.data.nostrGroupID] + group.formerNostrGroupIDs {
            if let holder = self.groupIDs[id], holder != group.groupID, self.groups[holder]?.isActive == true {
                continue
            }
            self.groupIDs[id] = group.groupID
        }
    }

    mutating func begin(_ goal: Operation.Goal, _ request: RequestID?) -> Int {
        self.lastOperation += 1
        self.operations[self.lastOperation] = Operation(goal: goal, request: request)
        self.refreshBusy()
        return self.lastOperation
    }

    mutating func end(_ operation: Int) -> Operation? {
        guard let ended = self.operations.removeValue(forKey: operation) else { return nil }
        self.refreshBusy()
        return ended
    }

    /// What is under way, as the screens show it.
    mutating func refreshBusy() {
        var busy = AppState.Busy()
        for operation in self.operations.values {
            switch operation.goal {
            case .createGroup: busy.creatingChat = true
            case .addMembers(let groupID, _), .commit(let groupID, _):
                if let group = self.groups[groupID] { busy.changingChats.insert(group.data.nostrGroupIDHex) }
            }
        }
        if self.state.busy != busy { self.state.busy = busy }
    }

    /// The group of a chat that is in use, or why not.
    func groupID(ofChat chatID: String) throws(AppCoreError) -> [UInt8] {
        guard let id = Bytes32(hex: chatID), let groupID = self.groupIDs[id] else {
            throw AppCoreError(.unknownChat, "no chat has the id \(chatID)")
        }
        return groupID
    }
}

/// How a group is named in the store: a group, or the pending commit that follows on it.
struct StoredGroupKey: Hashable {
    let groupID: [UInt8]
    let isPending: Bool

    init(_ groupID: [UInt8], isPending: Bool = false) {
        self.groupID = groupID
        self.isPending = isPending
    }

    /// A prefix byte keeps the two apart, whatever a peer chooses as its group id.
    var bytes: [UInt8] { [self.isPending ? 1 : 0] + self.groupID }

    init?(stored bytes: [UInt8]) {
        guard let first = bytes.first, first <= 1 else { return nil }
        self.init(Array(bytes.dropFirst()), isPending: first == 1)
    }
}
