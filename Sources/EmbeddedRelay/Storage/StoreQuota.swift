import Nostr

/// Decides, within one transaction, whether an event still fits into the database.
struct StoreQuota: Hashable, Sendable {
    /// Maximum size of the database in bytes.
    let limit: Int64
    private(set) var used: Int64

    /// Deletions free space, so they may use a sixteenth more.
    func admits(_ kind: Kind) -> Bool {
        used < (kind == .deletion ? limit.saturatingAdd(limit / 16) : limit)
    }

    /// Counts a stored event with an upper estimate: its JSON, its tags, and its rows in eight indexes. The next
    /// transaction measures the actual size.
    mutating func add(json: Int) {
        for _ in 0..<6 { used = used.saturatingAdd(Int64(json).saturatingAdd(256)) }
    }
}

extension Int64 {
    fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
