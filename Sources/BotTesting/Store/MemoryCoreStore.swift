public import MLS
import Nostr
public import PikaCore
import Synchronization

/// A ``CoreStore`` in memory: the same meaning as a store on disk, and faults on demand.
public final class MemoryCoreStore: CoreStore {
    /// Where the store stops for good, counted in commits since it was made; the first is 1.
    public enum StopPoint: Hashable, Sendable {
        /// That commit fails and leaves nothing.
        case before(commit: Int)
        /// That commit is whole; nothing comes after it.
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
    public let crashes: CrashLedger

    public convenience init() {
        self.init(StoreContent(), LabCrashNotes())
    }

    private init(_ content: StoreContent, _ notes: LabCrashNotes) {
        self.state = Mutex(State(content: content))
        self.notes = notes
        self.crashes = CrashLedger(notes, now: 0)
    }

    /// A new store with what the commits so far have left, as a process finds it that starts after a crash.
    public func snapshot() -> MemoryCoreStore {
        MemoryCoreStore(self.state.withLock { $0.content }, self.notes.snapshot())
    }

    /// A new store as a restore of this one's present content makes it: another copy of the account.
    public func restored(atMilliseconds time: Int64) -> MemoryCoreStore {
        var content = self.state.withLock { $0.content }
        let id = withUnsafeBytes(of: time.bigEndian) { Array($0) } + content.instance.id.prefix(8)
        content.instance = StoredInstance(
            id: id, generation: max(time, content.instance.generation + 1), isRestored: true)
        return MemoryCoreStore(content, LabCrashNotes())
    }

    /// Completed commits since the store was made.
    public var commitCount: Int { self.state.withLock { $0.commits } }

    /// All messages of all groups, oldest first.
    public var allMessages: [StoredMessage] { self.state.withLock { $0.content.allMessages } }

    /// Rows that not all of their relays have.
    public var outbox: [OutboxRow] { self.state.withLock { $0.content.state.outbox } }

    /// Rows that no handler has finished.
    public var inbox: [InboxRow] { self.state.withLock { $0.content.state.inbox } }

    /// The stored keys of all groups and their parts, in the order of their founding.
    public var groupKeys: [[UInt8]] { self.state.withLock { $0.content.state.groups.map(\.groupID) } }

    /// Lets the next commit throw ``LabError/Code/injectedFault`` and leave nothing.
    public func failNextCommit() {
        self.state.withLock { $0.failsNextCommit = true }
    }

    /// Plans the end of the process that uses this store: from that point every call throws
    /// ``LabError/Code/stopped``. `onStop` is called at that instant, before the caller of the commit gets on.
    public func stop(_ point: StopPoint, onStop: @escaping @Sendable () -> Void) {
        self.state.withLock { state in
            state.stopPoint = point
            state.onStop = onStop
        }
    }

    /// Ends the use of this store now.
    public func stop() {
        self.notes.stop()
        self.state.withLock { $0.isStopped = true }
    }

    public func load() async throws -> StoredState {
        let outer = self.crashes.enterPass(.read)
        defer { self.crashes.leave(outer) }
        var state = try self.read { $0.state }
        state.inbox = state.inbox.compactMap { row in
            self.crashes.part(.row(table: "inbox", key: "\(row.id)"), of: .read) { row }
        }
        return state
    }

    public func messages(
        in groupID: GroupID, before: StoredMessage.Position?, limit: Int
    ) async throws -> [StoredMessage] {
        try self.read { $0.messages(in: groupID, before: before, limit: limit) }
    }

    public func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage? {
        try self.read { $0.message(in: groupID, id: id) }
    }

    public func nextExpiry() async throws -> Int64? {
        try self.read { $0.nextExpiry }
    }

    public func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia] {
        try self.read { $0.media(in: groupID, message: message) }
    }

    public func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int {
        try self.read { $0.surplus(rule, limit: limit).count }
    }

    public func value(scope: String, key: String) async throws -> [UInt8]? {
        try self.read { $0.value(scope: scope, key: key) }
    }

    public func commit(_ changes: [StoreChange]) async throws {
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

    /// What to throw, and whom to tell about the stop.
    private static func commit(
        _ changes: [StoreChange], to state: inout State
    ) -> (error: LabError?, onStop: (@Sendable () -> Void)?) {
        let stopped = LabError(.stopped, "the member that used this store has crashed")
        if state.isStopped { return (stopped, nil) }
        if state.failsNextCommit {
            state.failsNextCommit = false
            return (LabError(.injectedFault, "this commit was to fail"), nil)
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
