import Nostr

@testable import MLS
@testable import Marmot

/// A group as a hostile account follows it, with a state of each recent epoch.
struct HostileGroup {
    /// A state before the commit that ended its epoch, and the time of that commit.
    struct Past {
        var group: MarmotGroup
        var createdAt: UnixTime
    }

    /// Honest members go back at most one epoch less.
    static let maximumPast = MarmotProfile.mip.pastEpochs + 1

    private(set) var current: MarmotGroup
    /// Oldest first.
    private(set) var past: [Past] = []
    /// Events that could not be opened on arrival.
    private var early: [Event] = []

    init(_ group: MarmotGroup) { self.current = group }

    /// Follows the group as an honest member would.
    mutating func ingest(_ event: Event, now: UnixTime) {
        var queue = [event]
        while let next = queue.popLast() {
            let before = self.current
            switch self.current.ingest(next, now: now) {
            case .commit(let report):
                self.note(before, report.epochBefore, report.createdAt)
                queue += self.early
                self.early = []
            case .waiting: self.early = (self.early + [next]).suffix(32)
            default: break
            }
        }
    }

    private mutating func note(_ before: MarmotGroup, _ epoch: Epoch, _ createdAt: UnixTime) {
        if let position = self.past.firstIndex(where: { $0.group.epoch == epoch }) {
            self.past[position].createdAt = createdAt
            self.past.removeSubrange((position + 1)...)
        } else {
            self.past = (self.past + [Past(group: before, createdAt: createdAt)]).suffix(Self.maximumPast)
        }
    }

    /// The state that many epochs ago; nil if unknown.
    func state(_ depth: Int) -> MarmotGroup? {
        if depth == 0 { return self.current }
        return depth <= self.past.count ? self.past[self.past.count - depth].group : nil
    }

    /// The time of the commit that ended the epoch of ``state(_:)``.
    func endTime(_ depth: Int) -> UnixTime? {
        (1...max(1, self.past.count)).contains(depth) && depth <= self.past.count
            ? self.past[self.past.count - depth].createdAt : nil
    }

    private mutating func set(_ group: MarmotGroup, _ depth: Int) {
        if depth == 0 { self.current = group } else { self.past[self.past.count - depth].group = group }
    }

    // MARK: Sending

    /// Commits arbitrary proposals on the state that many epochs ago, whatever the account's role.
    ///
    /// - Parameter isFollowed: whether this account adopts the commit; false if no member will accept it.
    mutating func commit(
        _ request: CommitRequest, depth: Int = 0, at time: UnixTime, isFollowed: Bool,
        using random: inout some RandomNumberGenerator
    ) throws -> (event: Event, welcome: [UInt8]?) {
        guard var group = self.state(depth) else { throw MarmotError(.notFound, "no epoch is that far back") }
        let before = group
        let pending = try group.mls.commit(request, using: &random)
        let event = try group.sealOuter(pending.message, at: time, using: &random)
        self.set(group, depth)
        guard isFollowed else { return (event, pending.welcome) }
        let data = try MarmotGroup.data(pending.next.extensions, group.profile)
        group.setPending(
            OwnCommit(
                event: event, welcomes: [], next: pending.next, data: data,
                digest: SHA256Derivation.digest(pending.message)))
        _ = try group.mergePending()
        self.note(before, before.epoch, time)
        self.current = group
        return (event, pending.welcome)
    }

    /// Seals arbitrary bytes as a message of this account.
    ///
    /// - Parameter tag: the routing id that the event states, if it differs from the group's.
    mutating func seal(
        _ bytes: [UInt8], at time: UnixTime, under tag: Bytes32? = nil, using random: inout some RandomNumberGenerator
    ) throws -> Event {
        let message = try self.current.mls.protect(bytes, using: &random)
        return try self.wrap(message, at: time, under: tag, using: &random)
    }

    /// Puts an encoded MLSMessage, valid or not, into the outer layer.
    func wrap(
        _ message: [UInt8], at time: UnixTime, under tag: Bytes32? = nil, using random: inout some RandomNumberGenerator
    ) throws -> Event {
        let group = self.current
        return try GroupEvents.seal(
            message, key: group.profile.outerKey(group.mls), nostrGroupID: tag ?? group.data.nostrGroupID, now: time,
            using: &random)
    }

    /// Changes the state that this account follows, such as its message keys.
    mutating func withCurrent<Value>(_ body: (inout MarmotGroup) throws -> Value) rethrows -> Value {
        try body(&self.current)
    }
}
