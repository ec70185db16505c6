package import MLS
package import Nostr
package import PikaCore
import Synchronization

/// An in-memory ``CoreStore`` with the semantics of a store on disk, and faults on demand.
package final class MemoryCoreStore: CoreStore {
    /// The point where the store stops permanently, in commits since its creation; the first is 1.
    package enum StopPoint: Hashable, Sendable {
        /// That commit fails without effect.
        case before(commit: Int)
        /// That commit completes; nothing after it does.
        case after(commit: Int)
    }

    private struct State {
        var content: StoreContent
        var commits = 0
        var failsNextCommit = false
        var stopPoint: StopPoint?
        var onStop: (@Sendable () -> Void)?
        var isStopped = false
    }

    private let state: Mutex<State>
    private let notes: LabCrashNotes
    /// The crash ledger, whose notes only ``snapshot()`` copies.
    package let crashes: CrashLedger

    /// Creates an empty store.
    package convenience init() {
        self.init(StoreContent(), LabCrashNotes())
    }

    private init(_ content: StoreContent, _ notes: LabCrashNotes) {
        self.state = Mutex(State(content: content))
        self.notes = notes
        self.crashes = CrashLedger(notes, now: 0)
    }

    /// Returns a new store with the state of the commits so far, as a process finds it after a crash.
    package func snapshot() -> MemoryCoreStore {
        MemoryCoreStore(self.state.withLock { $0.content }, self.notes.snapshot())
    }

    /// Returns a new store with the current content after a restore: another copy of the account.
    package func restored(atMilliseconds time: Int64) -> MemoryCoreStore {
        var content = self.state.withLock { $0.content }
        let id = withUnsafeBytes(of: time.bigEndian) { Array($0) } + content.instance.id.prefix(8)
        content.instance = StoredInstance(
            id: id, generation: max(time, content.instance.generation + 1), isRestored: true)
        return MemoryCoreStore(content, LabCrashNotes())
    }

    /// The number of completed commits since the store's creation.
    package var commitCount: Int { self.state.withLock { $0.commits } }

    /// All messages of all groups, oldest first.
    package var allMessages: [StoredMessage] { self.state.withLock { $0.content.allMessages } }

    /// Events that some of their relays still lack.
    package var outbox: [OutboxRow] { self.state.withLock { $0.content.state.outbox } }

    /// Events not yet completed by the handlers.
    package var inbox: [InboxRow] { self.state.withLock { $0.content.state.inbox } }

    /// The stored keys of all groups and their related states, in the order of creation.
    package var groupKeys: [[UInt8]] { self.state.withLock { $0.content.state.groups.map(\.key) } }

    /// Makes the next commit throw `LabError.Code.injectedFault` without effect.
    package func failNextCommit() {
        self.state.withLock { $0.failsNextCommit = true }
    }

    /// Plans the end of the process that uses this store: from that point on every call throws
    /// `LabError.Code.stopped`. `onStop` is called at that point, before the commit returns to its caller.
    package func stop(_ point: StopPoint, onStop: @escaping @Sendable () -> Void) {
        self.state.withLock { state in
            state.stopPoint = point
            state.onStop = onStop
        }
    }

    /// Stops this store now.
    package func stop() {
        self.notes.stop()
        self.state.withLock { $0.isStopped = true }
    }

    /// Returns the committed state without quarantined rows; throws `LabError.Code.stopped`.
    package func load() async throws -> StoredState {
        let pass = self.crashes.beginPass(.read)
        defer { self.crashes.end(pass) }
        var state = try self.read { $0.state }
        state.inbox = state.inbox.compactMap { row in
            self.crashes.part(.row(table: "inbox", key: "\(row.id)"), of: .read) { row }
        }
        return state
    }

    /// Returns at most `limit` messages older than `before`, newest first; throws `LabError.Code.stopped`.
    package func messages(
        in groupID: GroupID, before: StoredMessage.Position?, limit: Int
    ) async throws -> [StoredMessage] {
        try self.read { $0.messages(in: groupID, before: before, limit: limit) }
    }

    /// Returns the messages at points of a group's history; throws `LabError.Code.stopped`.
    package func messages(in groupID: GroupID, atPoints points: [Bytes32]) async throws -> [StoredMessage] {
        try self.read { $0.messages(in: groupID, atPoints: points) }
    }

    /// Returns one message, nil if it is not stored; throws `LabError.Code.stopped`.
    package func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage? {
        try self.read { $0.message(in: groupID, id: id) }
    }

    /// Returns the earliest expiry of all messages, nil if none expires; throws `LabError.Code.stopped`.
    package func nextExpiry() async throws -> UnixTime? {
        try self.read { $0.nextExpiry }
    }

    /// Returns the files of a message by index; throws `LabError.Code.stopped`.
    package func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia] {
        try self.read { $0.media(in: groupID, message: message) }
    }

    /// Returns the number of messages that a rule matches, counted up to `limit`; throws `LabError.Code.stopped`.
    package func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int {
        try self.read { $0.surplus(rule, limit: limit).count }
    }

    /// Returns a stored value, nil if absent; throws `LabError.Code.stopped`.
    package func value(scope: String, key: String) async throws -> [UInt8]? {
        try self.read { $0.value(scope: scope, key: key) }
    }

    package var commitsAtOnce: Bool { true }

    /// Applies all changes in order, without those of quarantined subjects. Throws `LabError.Code.injectedFault` or
    /// `LabError.Code.stopped`, without any effect.
    package func commit(_ changes: [StoreChange]) async throws {
        let changes = changes.compactMap { change in self.crashes.part(change.crashSubject, of: .store) { change } }
        let (error, onStop) = self.state.withLock { Self.commit(changes, to: &$0) }
        if onStop != nil { self.notes.stop() }
        onStop?()
        if let error { throw error }
    }

    private func read<Result>(_ body: (StoreContent) -> Result) throws -> Result {
        let content = self.state.withLock { $0.isStopped ? nil : $0.content }
        guard let content else { throw LabError(.stopped, "the member that used this store has crashed") }
        return body(content)
    }

    /// Applies the changes; returns the error to throw, and the callback to call if the store stopped.
    private static func commit(
        _ changes: [StoreChange], to state: inout State
    ) -> (error: LabError?, onStop: (@Sendable () -> Void)?) {
        let stopped = LabError(.stopped, "the member that used this store has crashed")
        if state.isStopped { return (stopped, nil) }
        if state.failsNextCommit {
            state.failsNextCommit = false
            return (LabError(.injectedFault, "injected commit failure"), nil)
        }
        if state.stopPoint == .before(commit: state.commits + 1) {
            state.isStopped = true
            return (stopped, state.onStop)
        }
        for change in changes { state.content.apply(change) }
        state.commits += 1
        guard state.stopPoint == .after(commit: state.commits) else { return (nil, nil) }
        state.isStopped = true
        return (nil, state.onStop)
    }
}
