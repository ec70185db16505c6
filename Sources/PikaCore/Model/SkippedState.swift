import MLS
import Nostr

/// Quarantined rows that a restore skipped, with the data needed to release or drop them.
struct SkippedState: Sendable {
    /// The stored keys of a group's parts.
    private(set) var groups: [CrashSubject: [[UInt8]]] = [:]
    private(set) var memos: [CrashSubject: MemoName] = [:]
    /// Waiting events (``CoreModel/waiting``).
    private(set) var waiting: [Event] = []

    mutating func addGroup(_ subject: CrashSubject, storedAs key: [UInt8]) {
        self.groups[subject, default: []].append(key)
    }
    mutating func addMemo(_ subject: CrashSubject, _ name: MemoName) { self.memos[subject] = name }
    mutating func addWaiting(_ event: Event) { self.waiting.append(event) }
    mutating func forgetGroup(_ subject: CrashSubject) { self.groups[subject] = nil }
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
