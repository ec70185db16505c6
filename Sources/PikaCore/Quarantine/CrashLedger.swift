import MLS
package import Nostr
import Synchronization

/// Crash-safe journal of the core's work in flight, and the quarantine derived from it.
///
/// A note is written before the core decodes, ingests, stores, reads or restores a subject, and removed afterwards.
/// Notes found at the start of a process were in flight when the previous one died. After the second death the event,
/// group or row is quarantined: the core skips it until an operator releases it
/// (docs/decisions/0014-core-quarantine.md). Work that succeeds clears its earlier death, so that a process killed
/// from outside while it writes the same busy group does not lose the group.
///
/// The core has one subject in flight at a time. Relay connections decode messages in parallel with it, and it stores the
/// changes of one batch while it processes the next.
package final class CrashLedger: Sendable {
    /// A subject that is in flight, or was when an earlier process died.
    private struct Note: Sendable {
        let subject: CrashSubject
        let scope: CrashSubject?
        var stage: CrashStage
        var deaths: Int
        /// The number of concurrent uses: several relays may send the same bytes.
        var holders: Int
        /// Subject and scope in their written form, which is written several times for each note.
        let names: [UInt8]

        init(subject: CrashSubject, scope: CrashSubject?, stage: CrashStage, deaths: Int, holders: Int) {
            self.subject = subject
            self.scope = scope
            self.stage = stage
            self.deaths = deaths
            self.holders = holders
            self.names = Array(" \(subject) \(scope?.description ?? "-")\n".utf8)
        }

        /// One line: deaths, whether it is in flight, stage, subject, scope.
        var line: [UInt8] {
            var line = Array(String(self.deaths).utf8)
            line += self.holders > 0 ? Array(" 1 ".utf8) : Array(" 0 ".utf8)
            line += Array(self.stage.rawValue.utf8)
            return line + self.names
        }
    }

    private struct State: Sendable {
        var notes: [Note] = []
        var quarantine: [QuarantineEntry] = []
        var held: Set<CrashSubject> = []
        /// The core's own subject in flight.
        var current: Slot?
        /// Passes in which the previous process died: their parts are noted individually.
        var suspectPasses: Set<CrashStage> = []
        var isClosed = false
        var hasFailed = false

        /// Keeps the note of a subject that crashed an earlier process and is not quarantined yet.
        mutating func keep(_ note: Note) {
            self.notes.append(note)
            if note.stage.isPass { self.suspectPasses.insert(note.stage) }
        }
    }

    fileprivate struct Slot: Sendable, Hashable {
        let subject: CrashSubject
        let scope: CrashSubject?
        let stage: CrashStage
    }

    /// The core's subject before it entered another one.
    package struct Outer: Sendable {
        fileprivate let slot: Slot?
    }

    /// Deaths after which a subject is quarantined if it was the only suspect in flight.
    static let maximumDeaths = 2
    /// Quarantined events of one group, relay or kind of sender that cause the whole scope to be quarantined.
    static let maximumOfScope = 2
    private static let maximumNotes = 24
    private static let maximumBytes = 3_900

    /// For cores that are not restarted after a crash.
    package static let off = CrashLedger()

    private let notes: (any CrashNotes)?
    private let state = Mutex(State())

    #if DEBUG
        private let fault = Mutex<CrashFault?>(nil)
    #endif

    /// Creates a ledger that records nothing.
    private init() { self.notes = nil }

    /// Reads the notes of the previous process, counts its death, and quarantines subjects that reached the limit.
    ///
    /// - Parameter now: the time of a new quarantine.
    package init(_ notes: any CrashNotes, now: UnixTime) {
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

    /// All quarantined subjects, oldest first.
    package var quarantine: [QuarantineEntry] { self.state.withLock { $0.quarantine } }

    /// Whether a write of a note has failed since the start: after a crash, the next process would not know of it.
    package var hasFailed: Bool { self.state.withLock { $0.hasFailed } }

    /// Whether a subject is quarantined and must be skipped.
    package func holds(_ subject: CrashSubject) -> Bool {
        guard self.notes != nil else { return false }
        return self.state.withLock { $0.held.contains(subject) }
    }

    // MARK: The core

    /// Notes the core's next subject; ``leave(_:)`` removes the note.
    func enter(_ subject: CrashSubject, of scope: CrashSubject? = nil, _ stage: CrashStage) -> Outer {
        guard self.notes != nil else { return Outer(slot: nil) }
        let outer = self.move(to: Slot(subject: subject, scope: scope, stage: stage), isDone: false)
        self.trapIfChosen(stage, subject.name)
        return outer
    }

    package func leave(_ outer: Outer) {
        guard self.notes != nil else { return }
        _ = self.move(to: outer.slot, isDone: true)
    }

    /// Whether the core is processing a subject, such as a released event.
    func isWorking(on subject: CrashSubject) -> Bool { self.state.withLock { $0.current?.subject == subject } }

    /// Reports the stage that the current subject has reached, for debugging; not noted.
    func reach(_ stage: CrashStage) {
        #if DEBUG
            guard self.notes != nil, let slot = self.state.withLock({ $0.current }) else { return }
            self.trapIfChosen(stage, slot.subject.name)
        #endif
    }

    /// - Parameter isDone: whether the core has finished with its previous subject, or will come back to it.
    private func move(to slot: Slot?, isDone: Bool) -> Outer {
        self.state.withLock { state in
            let outer = Outer(slot: state.current)
            guard !state.isClosed, slot != state.current else { return outer }
            let isSame = slot?.subject == state.current?.subject
            if !isSame {
                if let old = state.current { Self.removeNote(&state, old.subject, isDone: isDone) }
                if let slot { Self.note(&state, slot) }
            }
            state.current = slot
            if !isSame { if let notes = self.notes { Self.write(&state, to: notes) } }
            return outer
        }
    }

    // MARK: Passes

    /// Work that is noted beside the core's own subject: a pass, a part of one, or the decoding of a message.
    package struct Work: Sendable {
        fileprivate let subject: CrashSubject?
    }

    /// Notes a pass over many small items as a whole, which costs nothing per item; ``end(_:)`` removes the note.
    package func beginPass(_ stage: CrashStage) -> Work { self.begin(.pass(stage), stage) }

    private func begin(_ subject: CrashSubject, _ stage: CrashStage) -> Work {
        guard let notes = self.notes else { return Work(subject: nil) }
        self.state.withLock { state in
            guard !state.isClosed else { return }
            Self.note(&state, Slot(subject: subject, scope: nil, stage: stage))
            Self.write(&state, to: notes)
        }
        self.trapIfChosen(stage, subject.name)
        return Work(subject: subject)
    }

    package func end(_ work: Work) {
        guard let notes = self.notes, let subject = work.subject else { return }
        self.state.withLock { state in
            guard !state.isClosed else { return }
            Self.removeNote(&state, subject, isDone: true)
            Self.write(&state, to: notes)
        }
    }

    /// Whether the previous process died in such a pass or a part of it, so that ``part(_:of:_:)`` notes each part.
    package func notesParts(_ stage: CrashStage) -> Bool {
        guard self.notes != nil else { return false }
        return self.state.withLock { $0.suspectPasses.contains(stage) }
    }

    /// Whether parts of such a pass have to be identified: to note them, or to skip quarantined ones.
    func mustIdentifyParts(of stage: CrashStage) -> Bool {
        self.notes != nil && (self.notesParts(stage) || self.hasParts)
    }

    /// Runs the body for one part of a pass. Returns nil without running it if the part is quarantined.
    ///
    /// The part is noted only after a process has died in such a pass or in a part of it.
    package func part<Result>(
        _ subject: @autoclosure () -> CrashSubject?, of stage: CrashStage, _ body: () throws -> Result
    ) rethrows -> Result? {
        guard self.mustIdentifyParts(of: stage), let subject = subject() else { return try body() }
        if self.holds(subject) { return nil }
        guard self.notesParts(stage) else { return try body() }
        let noted = self.begin(subject, stage)
        defer { self.end(noted) }
        return try body()
    }

    /// Whether any subject is quarantined that a pass may encounter.
    private var hasParts: Bool { self.state.withLock { !$0.held.isEmpty } }

    // MARK: Concurrent decoding

    /// Notes a relay message before it is decoded. Returns nil if the message or its relay is quarantined.
    package func begin(frame bytes: [UInt8], from relay: RelayURL) -> Work? {
        guard let notes = self.notes else { return Work(subject: nil) }
        let subject = CrashSubject.frame(bytes)
        let scope = CrashSubject.relay(relay)
        let isHeld = self.state.withLock { state in
            if state.held.contains(scope) { return true }
            if state.held.contains(subject) {
                if Self.claim(&state, subject, bytes) { Self.write(&state, quarantineTo: notes) }
                return true
            }
            guard !state.isClosed else { return false }
            Self.note(&state, Slot(subject: subject, scope: scope, stage: .decode))
            Self.write(&state, to: notes)
            return false
        }
        if isHeld { return nil }
        #if DEBUG
            if self.fault.withLock({ $0 != nil }) { self.trapIfChosen(.decode, Self.claimedID(in: bytes) ?? "") }
        #endif
        return Work(subject: subject)
    }

    /// Ends the journal before an orderly shutdown: work that is cut off from now on is not a suspect.
    package func close() {
        guard let notes = self.notes else { return }
        self.state.withLock { state in
            guard !state.isClosed else { return }
            state.isClosed = true
            for index in state.notes.indices { state.notes[index].holders = 0 }
            state.notes.removeAll { $0.deaths == 0 || $0.subject.kind == .pass }
            Self.write(&state, to: notes)
        }
    }

    // MARK: The quarantine

    /// Stores the content of a quarantined event, so that it can be released.
    func keep(_ content: [UInt8], of subject: CrashSubject) {
        self.change { entries in
            guard content.count <= QuarantineEntry.maximumContent,
                let index = entries.firstIndex(where: { $0.subject == subject }), entries[index].content == nil
            else { return }
            entries[index].content = content
        }
    }

    /// Marks a subject as released from the next start on. Its entry stays until that release succeeds.
    func releaseAtStart(_ subject: CrashSubject) {
        self.change { entries in
            for index in entries.indices where entries[index].subject == subject { entries[index].isReleased = true }
        }
    }

    /// Removes a subject from the quarantine list.
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

    /// Counts a death for each subject that was in flight when the previous process died.
    private static func count(_ state: inout State, _ now: UnixTime) {
        let inFlight = state.notes.filter { $0.holders > 0 }
        // Of several suspects at least one is innocent, so wait for another death before quarantining any of them.
        let suspects = inFlight.count { $0.deaths > 0 && $0.subject.kind != .pass }
        let limit = suspects > 1 ? Self.maximumDeaths + 1 : Self.maximumDeaths
        // A pass is not to blame if one of its parts was in flight.
        let located = Set(inFlight.lazy.filter { $0.subject.kind != .pass }.map(\.stage))
        for var note in inFlight {
            if note.subject.kind == .pass, located.contains(note.stage) {
                Self.removeNote(&state, note.subject, isDone: false)
                continue
            }
            state.notes.removeAll { $0.subject == note.subject }
            note.deaths += 1
            note.holders = 0
            if note.subject.kind == .pass {
                state.keep(note)
            } else if let index = state.quarantine.firstIndex(where: { $0.subject == note.subject }) {
                // It was released, or its release was in progress.
                state.quarantine[index].deaths += 1
                state.quarantine[index].isReleased = false
            } else if note.deaths >= limit {
                Self.addQuarantined(&state, note, now)
            } else {
                state.keep(note)
            }
        }
    }

    private static func addQuarantined(_ state: inout State, _ note: Note, _ now: UnixTime) {
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
        state.notes.append(
            Note(subject: slot.subject, scope: slot.scope, stage: slot.stage, deaths: 0, holders: 1))
    }

    private static func removeNote(_ state: inout State, _ subject: CrashSubject, isDone: Bool) {
        guard let index = state.notes.firstIndex(where: { $0.subject == subject }) else { return }
        state.notes[index].holders = max(0, state.notes[index].holders - 1)
        // An unfinished subject keeps its deaths.
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

    /// The first 64 hex digits after `"id":"`. Quotes inside JSON strings are escaped, so they cannot imitate the mark.
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

    /// Encodes one line per note.
    private static func bytes(_ notes: [Note]) -> [UInt8] {
        var bytes: [UInt8] = []
        // Subjects in flight come first: if the journal is full, old suspects are left out.
        for isInFlight in [true, false] {
            for note in notes where (note.holders > 0) == isInFlight {
                let line = note.line
                if bytes.count + line.count <= Self.maximumBytes { bytes += line }
            }
        }
        return bytes
    }

    /// Parses stored notes; unreadable lines are skipped.
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
    /// A trap at a chosen stage of a chosen subject, to test crash recovery. In debug builds only.
    package struct CrashFault: Sendable {
        /// Receives the stage and the subject's name; for a frame, the event id that it claims.
        package let isChosen: @Sendable (CrashStage, String) -> Bool
        package let trap: @Sendable () -> Void

        package init(
            isChosen: @escaping @Sendable (CrashStage, String) -> Bool, trap: @escaping @Sendable () -> Void
        ) {
            self.isChosen = isChosen
            self.trap = trap
        }
    }

    extension CrashLedger {
        package func set(_ fault: CrashFault?) { self.fault.withLock { $0 = fault } }
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
