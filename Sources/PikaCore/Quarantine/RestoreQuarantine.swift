import MLS
import Nostr

/// The crash records of a restore, and the quarantined rows that it skipped, with the data needed to release or drop
/// them.
struct RestoreQuarantine: Sendable {
    /// Records the input in progress, in case it crashes the process. Reducers never read it back.
    let ledger: CrashLedger
    /// The stored keys of a group's parts.
    private var groups: [CrashSubject: [[UInt8]]] = [:]
    private var memos: [CrashSubject: MemoName] = [:]
    /// Events waiting to be opened (``PendingEvents``).
    private(set) var waiting: [Event] = []
    /// While a memo is being restored: the enclosing input's crash record.
    private var outer: CrashLedger.Outer?

    init(_ ledger: CrashLedger) {
        self.ledger = ledger
    }

    // MARK: Restoring

    /// Records that a memo is about to be read; false if it is quarantined.
    mutating func enter(_ name: MemoName) -> Bool {
        guard self.ledger.mustIdentifyParts(of: .restore) else { return true }
        let subject = name.crashSubject
        if self.ledger.holds(subject) {
            if subject.kind == .row { self.memos[subject] = name }
            return false
        }
        if self.ledger.notesParts(.restore) { self.outer = self.ledger.enter(subject, .restore) }
        return true
    }

    /// Records that a memo was read.
    mutating func leave() {
        guard let outer = self.outer else { return }
        self.outer = nil
        self.ledger.leave(outer)
    }

    /// Records that a group's row is about to be read; false if the group is quarantined.
    mutating func admits(_ subject: CrashSubject, storedAs key: [UInt8]) -> Bool {
        guard self.ledger.holds(subject) else { return true }
        self.groups[subject, default: []].append(key)
        return false
    }

    /// Records that an event is about to be read; false if it is quarantined.
    mutating func admits(_ event: Event) -> Bool {
        guard self.ledger.holds(.event(event.id)) else { return true }
        self.waiting.append(event)
        return false
    }

    // MARK: Operators' orders

    /// Deletes the rows of a quarantined group; false if none were skipped.
    mutating func dropGroup(_ subject: CrashSubject, _ step: inout CoreStep) -> Bool {
        guard let keys = self.groups.removeValue(forKey: subject) else { return false }
        for key in keys { step.changes.append(.deleteGroup(key: key)) }
        return true
    }

    /// Deletes a quarantined row; false if its table is unknown.
    func dropRow(_ subject: CrashSubject, _ step: inout CoreStep) -> Bool {
        if let memo = self.memos[subject] {
            step.changes.append(.putMemo(memo, nil))
            return true
        }
        let parts = subject.name.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { return false }
        step.changes.append(.dropRow(table: parts[0], key: parts[1]))
        return true
    }
}

extension MemoName {
    /// The subject to quarantine if the memo crashes the process: its group, or this memo alone.
    var crashSubject: CrashSubject {
        switch self.kind {
        case .reseal, .keyAge, .mediaSecrets, .copiedGroup, .chat: .group(GroupID(self.key))
        default:
            .row(table: "memo-\(self.kind.rawValue)", key: Hex.encode(SHA256Derivation.digest(self.key).prefix(16)))
        }
    }
}
