import MLS
import Marmot
import Nostr

/// The complete state of the core: the visible state and its bookkeeping. Only reducers change it.
struct CoreModel: Sendable {
    let account: OwnKey
    var quarantine: RestoreQuarantine
    var configuration: CoreConfiguration
    var published = PublishedState()
    var groups = Groups()
    var keyPackages: KeyPackages
    var people = People()
    var catchUp: CatchUp
    var invitations: Invitations
    var convergence: Convergence
    var settlement = Settlement()
    var inbound: InboundEvents
    var inbox: HandlerInbox
    var delivery = Delivery()
    var actions = PendingActions()
    var intents = Intents()
    var media = Media()
    var chats = Chats()
    var signer = SignerQueue()
    var calls = Calls()
    var notifications = Push()

    /// The error that the core has to stop with.
    var failure: AppCoreError? { self.convergence.successor.map { .superseded(by: $0) } }

    /// The visible state.
    var state: AppState {
        // Not _read: in debug builds Swift 6.3 compares a field of the yielded value after releasing it.
        get { self.published.state }
        _modify { yield &self.published.state }
    }

    /// The crash records of inputs.
    var crashes: CrashLedger { self.quarantine.ledger }

    /// Creates a model with a local key.
    init(
        account: KeyPair, configuration: CoreConfiguration, stored: StoredState, crashes: CrashLedger = .off
    ) throws(AppCoreError) {
        try self.init(account: .local(account), configuration: configuration, stored: stored, crashes: crashes)
    }

    /// Reads the complete stored state. Unreadable rows throw; quarantined ones are skipped.
    init(
        account: OwnKey, configuration: CoreConfiguration, stored: StoredState, crashes: CrashLedger = .off
    ) throws(AppCoreError) {
        self.account = account
        self.quarantine = RestoreQuarantine(crashes)
        self.configuration = configuration
        self.convergence = Convergence(stored.instance)
        self.inbound = InboundEvents(
            seen: SeenEvents(newestFirst: stored.seen, refusedNewestFirst: stored.refused))
        self.catchUp = CatchUp(stored.cursors)
        self.inbox = HandlerInbox(cursors: stored.cursors, rows: stored.inbox)
        self.keyPackages = KeyPackages(stored.keyPackages)
        self.invitations = Invitations(stored.invites)
        try self.restoreMediaSecrets(stored.memos)
        try self.restoreGroups(stored.groups)
        var stored = stored
        self.groups.migrateChatIDs(in: &stored)
        try self.restoreIntents(stored.memos)
        try self.restoreReseals(stored.memos)
        try self.restoreKeyAges(stored.memos)
        try self.restoreCopiedGroups(stored.memos)
        for waiting in stored.waiting {
            guard self.quarantine.admits(waiting.event) else { continue }
            guard let id = try? GroupEvents.nostrGroupID(of: waiting.event),
                !self.groups.routes.groups(claiming: id).isEmpty
            else { continue }
            self.inbound.waiting.restore(waiting, under: id)
        }
        for row in stored.inbox {
            let event = crashes.part(.row(table: "inbox", key: "\(row.id)"), of: .restore) {
                CoreEvent(inboxID: row.id, payload: row.payload)
            }
            guard let event else { continue }
            guard let event else { throw AppCoreError(.corruptState, "inbox row \(row.id) cannot be read") }
            self.inbox.restore(event, bytes: row.payload.count)
        }
        for row in stored.outbox {
            self.delivery.restore(row)
        }
        self.state.auth = .loggedIn(account.publicKey)
        if case .remote = account {
            self.state.auth = .loggedIn(account.publicKey, .remoteSigner)
            self.state.signer = .unknown
        }
        self.state.relays = configuration.relays.map {
            AppState.RelayStatus(url: $0, connection: .disconnected, isCaughtUp: false)
        }
        try self.restoreOwnMemos(stored)
        self.resumeHeld()
        self.state.outbox.pending = self.delivery.queue.count
        self.refreshChatList()
        self.refreshBusy()
    }

    private mutating func restoreGroups(_ stored: [StoredGroup]) throws(AppCoreError) {
        var parts: [GroupID: [GroupPart: StoredGroupPart]] = [:]
        var groups: [(id: GroupID, stored: StoredGroup)] = []
        var left: [(id: GroupID, stored: StoredGroup)] = []
        var seconds: [GroupID: StoredConvergingGroup] = [:]
        for group in stored {
            let subject = CrashSubject.group(StoredGroupKey.groupID(ofStored: group.key))
            guard self.quarantine.admits(subject, storedAs: group.key) else { continue }
            if let groupID = StoredGroupKey.leftBranch(stored: group.key) {
                left.append((groupID, group))
                continue
            }
            if let (groupID, epoch) = StoredGroupKey.abandonedBranch(stored: group.key) {
                self.convergence.branches.restoreAbandoned(
                    try self.branch(group, of: groupID), of: groupID, at: epoch)
                continue
            }
            if let key = StoredConvergingKey(stored: group.key) {
                seconds[key.groupID, default: StoredConvergingGroup()].add(group, as: key.part)
                continue
            }
            guard let key = StoredGroupKey(stored: group.key) else {
                throw AppCoreError(.corruptState, "a stored group has an unknown form")
            }
            if let part = key.part {
                parts[key.groupID, default: [:]][part] = StoredGroupPart(header: group.header, records: group.records)
            } else {
                groups.append((key.groupID, group))
            }
        }
        for (id, group) in groups {
            let outer = self.crashes.notesParts(.restore) ? self.crashes.enter(.group(id), .restore) : nil
            defer { if let outer { self.crashes.leave(outer) } }
            do {
                let restored = try MarmotGroup(
                    header: group.header, records: group.records, parts: parts[id] ?? [:],
                    account: self.account.publicKey)
                self.restore(.first(restored))
                if restored.pending != nil { self.convergence.noteUnconfirmedCommit(of: id) }
            } catch { throw AppCoreError(.corruptState, "a stored group cannot be read: \(error.message)") }
        }
        for (id, group) in seconds { try self.restore(group, id) }
        for (id, group) in left {
            self.convergence.branches.restoreLeft(try self.branch(group, of: id), of: id)
        }
    }

    private mutating func restore(_ stored: StoredConvergingGroup, _ groupID: GroupID) throws(AppCoreError) {
        let outer = self.crashes.notesParts(.restore) ? self.crashes.enter(.group(groupID), .restore) : nil
        defer { if let outer { self.crashes.leave(outer) } }
        do {
            // The clock begins with the first turn (``Groups/resume(monotonicMilliseconds:)``).
            self.restore(.second(try ConvergingGroup(restoring: stored, account: self.account.publicKey, now: 0)))
            if let left = stored.left {
                self.settlement.others.restore(try ComponentGroup(left, account: self.account.publicKey))
            }
        } catch { throw AppCoreError(.corruptState, "a stored group cannot be read: \(error.message)") }
    }

    private mutating func restore(_ group: AccountGroup) {
        self.groups.restore(group)
        self.route(group)
        self.media.note(group)
    }

    private func branch(_ stored: StoredGroup, of groupID: GroupID) throws(AppCoreError) -> MarmotGroup {
        let outer = self.crashes.notesParts(.restore) ? self.crashes.enter(.group(groupID), .restore) : nil
        defer { if let outer { self.crashes.leave(outer) } }
        do {
            return try MarmotGroup(header: stored.header, records: stored.records, account: self.account.publicKey)
        } catch { throw AppCoreError(.corruptState, "a stored branch cannot be read: \(error.message)") }
    }

    /// Updates the flags that show work in progress on screens.
    mutating func refreshBusy() {
        var busy = AppState.Busy()
        for intent in self.intents.all where intent.isOpen {
            if intent.groupID == .notYetCreated {
                busy.creatingChat = true
            } else if intent.goal == .leave, self.hasLeft(intent.groupID) {
                // A relay has the departure. The intent only repeats it until another member commits it.
                continue
            } else if self.groups[intent.groupID] != nil {
                busy.changingChats.insert(ChatID(intent.groupID))
            }
        }
        if self.state.busy != busy { self.state.busy = busy }
    }

    /// Returns the group that a chat id names; as ``GroupRoutes/group(named:)``.
    func groupID(ofChat chatID: ChatID) throws(AppCoreError) -> GroupID {
        try self.groups.routes.group(named: chatID.rawValue)
    }
}
