import Foundation

/// The number of open live streams, of each session and of all. Pure.
struct StreamSlots: Sendable {
    /// Browsers open at most six connections to a host, and need some for requests.
    static let ofSession = 4
    static let ofAll = 32

    /// By the fingerprint of the session's token.
    private var counts: [Data: Int] = [:]

    var count: Int { counts.values.reduce(0, +) }

    /// Opens a stream; false if there are too many.
    mutating func open(_ session: Data) -> Bool {
        let own = counts[session] ?? 0
        guard own < Self.ofSession, count < Self.ofAll else { return false }
        counts[session] = own + 1
        return true
    }

    mutating func close(_ session: Data) {
        guard let own = counts[session] else { return }
        counts[session] = own > 1 ? own - 1 : nil
    }
}
