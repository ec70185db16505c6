import MLS
public import Nostr
import Synchronization

/// Crash-safe journal of what the core works on, and the quarantine that follows from it.
///
/// What the core is about to decode, ingest, store, read or restore is noted before it and struck out after it. Notes
/// found at the start of a process were in flight when the last one died. After the second death the one event, group or
/// row is set aside: skipped from then on, until an operator releases it (docs/decisions/0014-core-quarantine.md).
///
/// The core has one thing in flight at a time; connections to relays decode beside it.
public final class CrashLedger: Sendable {
    /// One thing that is in flight, or was.
    private struct Note: Sendable {
        let subject: CrashSubject
        let scope: CrashSubject?
        var stage: CrashStage
        var deaths: Int
        /// How often it is in flight now: several relays may send the same bytes.
        var holders: Int
    }

    private struct State: Sendable {
        var notes: [Note] = []
        var quarantine: [QuarantineEntry] = []
        var held: Set<CrashSubject> = []
        /// What the core itself has in flight.
        var current: Slot?
        /// Passes that the last process died in: their parts are noted one by one.
        var finePasses: Set<CrashStage> = []
        var isSettled = false
        var hasFailed = false
    }

    fileprivate struct Slot: Sendable, Hashable {
        let subject: CrashSubject
        let scope: CrashSubject?
        let stage: CrashStage
    }

    /// What the core worked on before it entered something.
    public struct Outer: Sendable {
        fileprivate let slot: Slot?
    }

    /// Deaths after which something is set aside that was the only suspect in flight.
    static let maximumDeaths = 2
    /// Events of one group, relay or kind of sender that are set aside before all of it is.
    static let maximumOfScope = 2
    private static let maximumNotes = 24
    private static let maximumBytes = 3_900

    /// For cores that nobody starts again.
    public static let off = CrashLedger()

    private let notes: (any CrashNotes)?
    private let state = Mutex(State())

    #if DEBUG
        private let fault = Mutex<CrashFault?>(nil)
    #endif

    /// Keeps nothing.
    private init() { self.notes = nil }

    /// Reads what the last process has left, and sets aside what it has died of.
    ///
    /// - Parameter now: Unix seconds.
    public init(_ notes: any CrashNotes, now: Int64) {
        self.notes = notes
        self.state.withLock { state in
            state.quarantine = QuarantineList.entries(notes.readQuarantine() ?? [])
            state.notes = Self.parse(notes.readInFlight() ?? [])
            let before = state.quarantine
            if state.notes.contains(where: { $0.holders > 0 }) {
                Self.count(&state, now)
                Self.write(&state, to: notes)
            }
            if state.quarantine != before { Self.write(&state, quarantineTo: notes) }
            Self.index(&state)
        }
    }

    /// Everything that is set aside, the oldest first.
    public var quarantine: [QuarantineEntry] { self.state.withLock { $0.quarantine } }

    /// Whether a note could not be written since the start: then the next process knows nothing of it.
    public var hasFailed: Bool { self.state.withLock { $0.hasFailed } }

    /// Whether something is set aside and must be skipped.
    public func holds(_ subject: CrashSubject) -> Bool {
        guard self.notes != nil else { return false }
        return self.state.withLock { $0.held.contains(subject) }
    }

    // MARK: The core

    /// Notes what the core works on from now on; ``leave(_:)`` strikes it out.
    func enter(_ subject: CrashSubject, of scope: CrashSubject? = nil, _ stage: CrashStage) -> Outer {
        guard self.notes != nil else { return Outer(slot: nil) }
        let outer = self.move(to: Slot(subject: subject, scope: scope, stage: stage), isDone: false)
        self.trapIfChosen(stage, subject.name)
        return outer
    }

    public func leave(_ outer: Outer) {
        guard self.notes != nil else { return }
        _ = self.move(to: outer.slot, isDone: true)
    }

    /// Whether the core works on something, such as on an event that was released.
    func isWorking(on subject: CrashSubject) -> Bool { self.state.withLock { $0.current?.subject == subject } }

    /// Says what the core does with what it works on, for debugging: not noted.
    func reach(_ stage: CrashStage) {
        #if DEBUG
            guard self.notes != nil, let slot = self.state.withLock({ $0.current }) else { return }
            self.trapIfChosen(stage, slot.subject.name)
        #endif
    }

    /// - Parameter isDone: whether the core is done with what it worked on, or comes back to it.
    private func move(to slot: Slot?, isDone: Bool) -> Outer {
        self.state.withLock { state in
            let outer = Outer(slot: state.current)
            guard !state.isSettled, slot != state.current else { return outer }
            let isSame = slot?.subject == state.current?.subject
            if !isSame {
                if let old = state.current { Self.strikeOut(&state, old.subject, isDone: isDone) }
                if let slot { Self.note(&state, slot) }
            }
            state.current = slot
            if !isSame { if let notes = self.notes { Self.write(&state, to: notes) } }
            return outer
        }
    }

    // MARK: Passes

    /// Notes a pass over many things as a whole, which costs nothing for each of them.
    public func enterPass(_ stage: CrashStage) -> Outer { self.enter(.pass(stage), stage) }

    /// Whether the last process died in such a pass: then ``part(_:_:of:)`` is worth its price.
    public func isFine(_ stage: CrashStage) -> Bool {
        guard self.notes != nil else { return false }
        return self.state.withLock { $0.finePasses.contains(stage) }
    }

    /// Whether parts of such a pass have to be told apart.
    func mayMeetParts(of stage: CrashStage) -> Bool { self.notes != nil && (self.isFine(stage) || self.hasParts) }

    /// Works on one part of a pass; nil without doing so if it is set aside.
    ///
    /// The part is noted only after a process has died in such a pass: that death counts as its first.
    public func part<Result>(
        _ subject: @autoclosure () -> CrashSubject?, of stage: CrashStage, _ body: () throws -> Result
    ) rethrows -> Result? {
        guard self.mayMeetParts(of: stage), let subject = subject() else { return try body() }
        if self.holds(subject) { return nil }
        guard self.isFine(stage) else { return try body() }
        let outer = self.enter(subject, stage)
        defer { self.leave(outer) }
        return try body()
    }

    /// Whether anything is set aside that a pass may meet.
    private var hasParts: Bool { self.state.withLock { !$0.held.isEmpty } }

    // MARK: Beside the core

    /// Something that is decoded beside the core.
    public struct Decoding: Sendable {
        fileprivate let subject: CrashSubject?
    }

    /// Notes a message of a relay before it is decoded; nil if it, or its relay, is set aside.
    public func begin(frame bytes: [UInt8], from relay: RelayURL) -> Decoding? {
        guard let notes = self.notes else { return Decoding(subject: nil) }
        let subject = CrashSubject.frame(bytes)
        let scope = CrashSubject.relay(relay)
        let isHeld = self.state.withLock { state in
            if state.held.contains(scope) { return true }
            if state.held.contains(subject) {
                if Self.claim(&state, subject, bytes) { Self.write(&state, quarantineTo: notes) }
                return true
            }
            guard !state.isSettled else { return false }
            Self.note(&state, Slot(subject: subject, scope: scope, stage: .decode))
            Self.write(&state, to: notes)
            return false
        }
        if isHeld { return nil }
        #if DEBUG
            if self.fault.withLock({ $0 != nil }) { self.trapIfChosen(.decode, Self.claimedID(in: bytes) ?? "") }
        #endif
        return Decoding(subject: subject)
    }

    public func end(_ decoding: Decoding) {
        guard let notes = self.notes, let subject = decoding.subject else { return }
        self.state.withLock { state in
            guard !state.isSettled else { return }
            Self.strikeOut(&state, subject, isDone: true)
            Self.write(&state, to: notes)
        }
    }

    /// The process is about to end in good order: whatever is cut off from now on is not to blame.
    public func settle() {
        guard let notes = self.notes else { return }
        self.state.withLock { state in
            guard !state.isSettled else { return }
            state.isSettled = true
            for index in state.notes.indices { state.notes[index].holders = 0 }
            state.notes.removeAll { $0.deaths == 0 || $0.subject.kind == .pass }
            Self.write(&state, to: notes)
        }
    }

    // MARK: The quarantine

    /// Keeps an event that is set aside, so that it can be released.
    func keep(_ content: [UInt8], of subject: CrashSubject) {
        self.change { entries in
            guard content.count <= QuarantineEntry.maximumContent,
                let index = entries.firstIndex(where: { $0.subject == subject }), entries[index].content == nil
            else { return }
            entries[index].content = content
        }
    }

    /// Marks something as released from the next start on: it is back only if that goes well.
    func releaseAtStart(_ subject: CrashSubject) {
        self.change { entries in
            for index in entries.indices where entries[index].subject == subject { entries[index].isReleased = true }
        }
    }

    /// Takes something off the list.
    func forget(_ subject: CrashSubject) {
        self.change { entries in entries.removeAll { $0.subject == subject } }
    }

    private func change(_ body: (inout [QuarantineEntry]) -> Void) {
        guard let notes = self.notes else { return }
        self.state.withLock { state in
            let before = state.quarantine
            body(&state.quarantine)
            guard state.quarantine != before else { return }
            Self.write(&state, quarantineTo: notes)
            Self.index(&state)
        }
    }
}

// MARK: Counting

extension CrashLedger {
    private static func index(_ state: inout State) {
        state.held = Set(state.quarantine.filter { !$0.isReleased }.map(\.subject))
    }

    /// What is in flight now was in flight when the last process died.
    private static func count(_ state: inout State, _ now: Int64) {
        let inFlight = state.notes.filter { $0.holders > 0 }
        // Of several suspects one is innocent: one death more tells which.
        let suspects = inFlight.count { $0.deaths > 0 && $0.subject.kind != .pass }
        let limit = suspects > 1 ? Self.maximumDeaths + 1 : Self.maximumDeaths
        for var note in inFlight {
            state.notes.removeAll { $0.subject == note.subject }
            note.deaths += 1
            note.holders = 0
            if note.subject.kind == .pass {
                state.notes.append(note)
                if let stage = CrashStage(rawValue: note.subject.name) { state.finePasses.insert(stage) }
            } else if let index = state.quarantine.firstIndex(where: { $0.subject == note.subject }) {
                // It was released, or was being released.
                state.quarantine[index].deaths += 1
                state.quarantine[index].isReleased = false
            } else if note.deaths >= limit {
                Self.setAside(&state, note, now)
            } else {
                state.notes.append(note)
            }
        }
    }

    private static func setAside(_ state: inout State, _ note: Note, _ now: Int64) {
        Self.add(
            &state,
            QuarantineEntry(
                subject: note.subject, scope: note.scope, stage: note.stage, deaths: note.deaths, since: now))
        guard let scope = note.scope, !state.quarantine.contains(where: { $0.subject == scope }) else { return }
        let others = state.quarantine.filter { $0.scope == scope }
        guard others.count >= Self.maximumOfScope else { return }
        Self.add(
            &state,
            QuarantineEntry(
                subject: scope, scope: nil, stage: note.stage, deaths: others.map(\.deaths).reduce(0, +), since: now))
    }

    private static func add(_ state: inout State, _ entry: QuarantineEntry) {
        state.quarantine.append(entry)
        if state.quarantine.count > QuarantineList.maximumCount { state.quarantine.removeFirst() }
    }

    private static func note(_ state: inout State, _ slot: Slot) {
        if let index = state.notes.firstIndex(where: { $0.subject == slot.subject }) {
            state.notes[index].holders += 1
            state.notes[index].stage = slot.stage
            return
        }
        if state.notes.count >= Self.maximumNotes {
            guard let oldest = state.notes.firstIndex(where: { $0.holders == 0 && $0.subject.kind != .pass }) else {
                return
            }
            state.notes.remove(at: oldest)
        }
        // In a pass that a process has died in, that death was this part's or another's: it is the first of each.
        let isPart = slot.subject.kind != .pass && slot.stage != .decode && state.finePasses.contains(slot.stage)
        state.notes.append(
            Note(subject: slot.subject, scope: slot.scope, stage: slot.stage, deaths: isPart ? 1 : 0, holders: 1))
    }

    private static func strikeOut(_ state: inout State, _ subject: CrashSubject, isDone: Bool) {
        guard let index = state.notes.firstIndex(where: { $0.subject == subject }) else { return }
        state.notes[index].holders = max(0, state.notes[index].holders - 1)
        // What is not done keeps its deaths.
        guard state.notes[index].holders == 0, isDone || state.notes[index].deaths == 0 else { return }
        state.notes.remove(at: index)
    }

    private static func claim(_ state: inout State, _ subject: CrashSubject, _ bytes: [UInt8]) -> Bool {
        guard let index = state.quarantine.firstIndex(where: { $0.subject == subject }),
            state.quarantine[index].claimedID == nil, let id = Self.claimedID(in: bytes)
        else { return false }
        state.quarantine[index].claimedID = id
        return true
    }

    /// The first 64 hex digits after `"id":"`; quotes within texts are escaped, so they do not look like this.
    private static func claimedID(in bytes: [UInt8]) -> String? {
        let mark = Array(#""id":""#.utf8)
        guard bytes.count >= mark.count + 64 else { return nil }
        for start in 0...bytes.count - mark.count - 64 where bytes[start] == mark[0] {
            guard bytes[start..<start + mark.count].elementsEqual(mark) else { continue }
            let digits = bytes[start + mark.count..<start + mark.count + 64]
            guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }) else { return nil }
            return String(decoding: digits, as: UTF8.self)
        }
        return nil
    }
}

// MARK: Written form

extension CrashLedger {
    private static func write(_ state: inout State, to notes: any CrashNotes) {
        if !notes.writeInFlight(Self.bytes(state.notes)) { state.hasFailed = true }
    }

    private static func write(_ state: inout State, quarantineTo notes: any CrashNotes) {
        if !notes.writeQuarantine(QuarantineList.bytes(state.quarantine)) { state.hasFailed = true }
    }

    /// A line each: deaths, whether it is in flight, stage, subject, scope.
    private static func bytes(_ notes: [Note]) -> [UInt8] {
        var bytes: [UInt8] = []
        // What is in flight first: if the page is full, it is old suspects that are not noted.
        for isInFlight in [true, false] {
            for note in notes where (note.holders > 0) == isInFlight {
                let scope = note.scope?.description ?? "-"
                let line = "\(note.deaths) \(isInFlight ? 1 : 0) \(note.stage.rawValue) \(note.subject) \(scope)\n"
                if bytes.count + line.utf8.count <= Self.maximumBytes { bytes += Array(line.utf8) }
            }
        }
        return bytes
    }

    /// Lines that cannot be read are left out.
    private static func parse(_ bytes: [UInt8]) -> [Note] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\n").prefix(Self.maximumNotes).compactMap { line in
            let parts = line.split(separator: " ")
            guard parts.count == 5, let deaths = Int(parts[0]), (0...Self.maximumDeaths + 1).contains(deaths),
                let stage = CrashStage(rawValue: String(parts[2])), let subject = CrashSubject(String(parts[3]))
            else { return nil }
            return Note(
                subject: subject, scope: CrashSubject(String(parts[4])), stage: stage, deaths: deaths,
                holders: parts[1] == "1" ? 1 : 0)
        }
    }
}

// MARK: Faults

#if DEBUG
    /// A trap at a chosen stage of a chosen subject, to prove what follows. In debug builds only.
    public struct CrashFault: Sendable {
        /// Gets the stage and the subject's name; of a frame, the id that it claims.
        public let isChosen: @Sendable (CrashStage, String) -> Bool
        public let trap: @Sendable () -> Void

        public init(
            isChosen: @escaping @Sendable (CrashStage, String) -> Bool, trap: @escaping @Sendable () -> Void
        ) {
            self.isChosen = isChosen
            self.trap = trap
        }
    }

    extension CrashLedger {
        public func set(_ fault: CrashFault?) { self.fault.withLock { $0 = fault } }
    }
#endif

extension CrashLedger {
    private func trapIfChosen(_ stage: CrashStage, _ name: String) {
        #if DEBUG
            let fault = self.fault.withLock { $0 }
            if let fault, fault.isChosen(stage, name) { fault.trap() }
        #endif
    }
}
