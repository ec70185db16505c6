import MLS
public import Nostr

/// The relation of a commit's author to the group that the commit rolled back.
public enum RollbackRole: String, Sendable, Hashable, CaseIterable {
    /// An admin of the group.
    case admin
    /// A member who is not an admin.
    case member
    /// Removed by the branch that its commit ended.
    case removed
    /// This account: its own abandoned commit was on a relay after all.
    case own = "self"
}

/// The rollbacks of one group that one account's commits have caused.
public struct RollbackTally: Sendable, Hashable {
    /// The author of the commits.
    public let committer: PublicKey
    /// The role at the newest of them.
    public internal(set) var role: RollbackRole
    /// The number of rollbacks.
    public internal(set) var count: Int
    /// The time of the oldest rollback.
    public internal(set) var firstAt: UnixTime
    /// The time of the newest rollback.
    public internal(set) var lastAt: UnixTime
}

/// The rollbacks of one group, counted by committer, and the resulting back-off of this account's own commits.
///
/// The smallest `created_at` wins a race (docs/protocol/marmot.md §5.7), and the commit's author chooses it. One member
/// can therefore undo the commits of the last epochs again and again. This account must follow, but it does not answer
/// each rollback at once.
struct RollbackRecord: Sendable, Hashable {
    private struct Loss: Sendable, Hashable {
        /// The time of the rollback.
        let at: UnixTime
        /// Nil for a commit that lost its race before it was merged.
        let committer: PublicKey?
    }

    /// Seconds for which a loss counts towards back-off and storm.
    static let window: Int64 = 3600
    /// Rollbacks by one committer within the window that count as a storm.
    static let stormThreshold = 10
    /// Seconds after the last rollback by its committer during which a storm is reported.
    static let stormMemory: Int64 = 86_400
    /// Milliseconds of the back-off after the second loss; doubled with each further loss, up to the maximum.
    static let firstDelay: Int64 = 1000
    static let maximumDelay: Int64 = 600_000
    private static let maximumLosses = 64
    private static let maximumTallies = 16

    /// The recent losses, oldest first.
    private var losses: [Loss] = []
    private var tallies: [PublicKey: RollbackTally] = [:]
    /// The time when a storm of the committer was detected.
    private var storms: [PublicKey: UnixTime] = [:]
    /// Unix milliseconds until which this account's commits wait.
    private var quietUntil: Int64 = 0
    /// Unix milliseconds of the scheduled wake-up. Not stored.
    private var wakeAt: Int64 = 0

    /// Counts a rollback. Returns whether it begins a storm that was not reported within the window.
    mutating func noteRollback(
        by committer: PublicKey, _ role: RollbackRole, nowMilliseconds: Int64,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        let now = UnixTime(milliseconds: nowMilliseconds)
        var tally =
            self.tallies[committer]
            ?? RollbackTally(committer: committer, role: role, count: 0, firstAt: now, lastAt: now)
        tally.role = role
        tally.count += 1
        tally.lastAt = now
        self.tallies[committer] = tally
        self.append(Loss(at: now, committer: committer), nowMilliseconds, &random)
        self.dropOldestTally()
        guard role != .own, self.losses.count(where: { $0.committer == committer }) >= Self.stormThreshold,
            self.storms[committer].map({ !Self.isWithin(Self.window, of: now, $0) }) ?? true
        else { return false }
        self.storms[committer] = now
        return true
    }

    /// Counts a commit of this account that lost its race before it was merged.
    mutating func noteLostRace(nowMilliseconds: Int64, using random: inout some RandomNumberGenerator) {
        self.append(Loss(at: UnixTime(milliseconds: nowMilliseconds), committer: nil), nowMilliseconds, &random)
    }

    /// Returns the end of the back-off, in Unix milliseconds; nil if this account's commits need not wait.
    func waitsUntil(nowMilliseconds: Int64) -> Int64? {
        // If the clock was set back, the wait is still at most the maximum delay.
        let end = min(self.quietUntil, nowMilliseconds + Self.maximumDelay)
        return end > nowMilliseconds ? end : nil
    }

    /// Returns the wake-up time for the end of the back-off, in Unix milliseconds; nil if there is no wait or a wake-up
    /// is scheduled.
    mutating func nextWakeUp(nowMilliseconds: Int64) -> Int64? {
        guard let end = self.waitsUntil(nowMilliseconds: nowMilliseconds), self.wakeAt <= nowMilliseconds else {
            return nil
        }
        self.wakeAt = end
        return end
    }

    /// Returns the committers whose storm is reported at this time.
    func reportedStorms(now: UnixTime) -> [RollbackTally] {
        self.tallies.values.filter {
            self.storms[$0.committer] != nil && Self.isWithin(Self.stormMemory, of: now, $0.lastAt)
        }.sorted { ($0.count, $0.committer) > ($1.count, $1.committer) }
    }

    func tally(of committer: PublicKey) -> RollbackTally? { self.tallies[committer] }

    private mutating func append(
        _ loss: Loss, _ nowMilliseconds: Int64, _ random: inout some RandomNumberGenerator
    ) {
        self.losses.removeAll { !Self.isWithin(Self.window, of: loss.at, $0.at) }
        self.losses.append(loss)
        if self.losses.count > Self.maximumLosses { self.losses.removeFirst() }
        // A single loss is the ordinary outcome of a race, so the change is retried at once.
        guard self.losses.count > 1 else { return }
        let delay = min(Self.firstDelay << Int64(min(self.losses.count - 2, 20)), Self.maximumDelay)
        self.quietUntil = nowMilliseconds + Int64.random(in: delay / 2...delay, using: &random)
    }

    private mutating func dropOldestTally() {
        guard self.tallies.count > Self.maximumTallies,
            let oldest = self.tallies.values.min(by: { ($0.lastAt, $0.count) < ($1.lastAt, $1.count) })
        else { return }
        self.tallies[oldest.committer] = nil
        self.storms[oldest.committer] = nil
    }

    private static func isWithin(_ seconds: Int64, of now: UnixTime, _ time: UnixTime) -> Bool {
        now.seconds(since: time).magnitude <= seconds.magnitude
    }
}

/// The stored form: JSON, version 1.
extension RollbackRecord {
    var stored: Secret {
        let losses = self.losses.map { loss in
            JSONValue.object(["at": .integer(loss.at.seconds), "by": loss.committer.map { .string($0.hex) } ?? .null])
        }
        let tallies = self.tallies.values.sorted { $0.committer < $1.committer }.map { tally in
            var fields: JSONObject = [
                "by": .string(tally.committer.hex), "role": .string(tally.role.rawValue),
                "count": .integer(Int64(tally.count)), "first": .integer(tally.firstAt.seconds),
                "last": .integer(tally.lastAt.seconds),
            ]
            if let storm = self.storms[tally.committer] { fields["storm"] = .integer(storm.seconds) }
            return JSONValue.object(fields)
        }
        let fields: JSONObject = [
            "v": 1, "quiet": .integer(self.quietUntil), "losses": .array(losses), "tallies": .array(tallies),
        ]
        return Secret(JSONValue.object(fields).json())
    }

    init?(_ content: Secret) {
        guard let json = JSONValue(memo: content), let quiet = json["quiet"]?.integer,
            let losses = json["losses"]?.array, let tallies = json["tallies"]?.array,
            losses.count <= Self.maximumLosses, tallies.count <= Self.maximumTallies
        else { return nil }
        self.quietUntil = quiet
        for loss in losses {
            guard let time = loss["at"]?.integer else { return nil }
            let committer = loss["by"]?.string.flatMap { try? PublicKey(hex: $0) }
            self.losses.append(Loss(at: UnixTime(time), committer: committer))
        }
        for tally in tallies {
            guard let committer = tally["by"]?.string.flatMap({ try? PublicKey(hex: $0) }),
                let role = tally["role"]?.string.flatMap({ RollbackRole(rawValue: $0) }),
                let count = tally["count"]?.integer.flatMap({ Int(exactly: $0) }), (1...Int(Int32.max)).contains(count),
                let first = tally["first"]?.integer, let last = tally["last"]?.integer
            else { return nil }
            self.tallies[committer] = RollbackTally(
                committer: committer, role: role, count: count, firstAt: UnixTime(first), lastAt: UnixTime(last))
            if let storm = tally["storm"]?.integer { self.storms[committer] = UnixTime(storm) }
        }
    }
}
