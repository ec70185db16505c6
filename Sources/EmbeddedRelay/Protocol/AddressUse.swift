import Nostr

/// Connection counts and rate limits by client address.
///
/// Bounded: an address without connections is forgotten once its burst has refilled. It is kept until then, so that
/// reconnecting does not refill the burst.
struct AddressUse: Sendable {
    private struct Entry: Sendable {
        var connections = 0
        var rate: TokenBucket?
    }

    private static let minimumSweep = 64

    private let limits: RelayLimits
    private var entries: [ClientAddress: Entry] = [:]
    /// The number of entries at which unused ones are swept next.
    private var sweepAt = Self.minimumSweep

    init(_ limits: RelayLimits) {
        self.limits = limits
    }

    var count: Int { entries.count }

    private func isLimited(_ address: ClientAddress) -> Bool { limits.limitsLoopback || !address.isLoopback }

    /// Counts a connection; returns false if the address has reached its limit.
    mutating func connect(_ address: ClientAddress, now: UnixTime) -> Bool {
        guard isLimited(address) else { return true }
        if entries[address] == nil { sweep(now) }
        var entry = entries[address] ?? entry(now)
        guard entry.connections < limits.connectionsPerAddress ?? .max else { return false }
        entry.connections += 1
        entries[address] = entry
        return true
    }

    mutating func disconnect(_ address: ClientAddress) {
        entries[address]?.connections -= 1
    }

    /// Consumes one message of a connected address's rate; returns false when it is exceeded.
    mutating func consumeMessage(_ address: ClientAddress, now: UnixTime) -> Bool {
        guard isLimited(address), limits.messagesPerSecondPerAddress != nil else { return true }
        return entries[address]?.rate?.consume(at: now) ?? true
    }

    private func entry(_ now: UnixTime) -> Entry {
        Entry(rate: limits.messagesPerSecondPerAddress.map { TokenBucket(perSecond: $0, now: now) })
    }

    /// Removes idle addresses. The amortised cost per connection is constant, because the bound is twice the number
    /// that remained.
    private mutating func sweep(_ now: UnixTime) {
        guard entries.count >= sweepAt else { return }
        entries = entries.filter { _, entry in entry.connections > 0 || entry.rate?.isFull(at: now) == false }
        sweepAt = max(Self.minimumSweep, 2 * entries.count)
    }
}
