import BotTesting
import Nostr

@testable import Marmot

/// A hostile member that answers other members' commits with a self-update for the same epoch and an earlier time,
/// which wins by the rule of docs/protocol/marmot.md §5.7. It holds the keys of the epoch that removed it.
struct BackDater {
    private(set) var group: MarmotGroup
    /// The number of commits that it lets pass before it commits before the first of them.
    let depth: Int
    private var earlier: [(group: MarmotGroup, createdAt: UnixTime)] = []
    private var known: Set<EventID> = []
    private var random: SeededGenerator
    private(set) var answerCount = 0

    init(_ group: MarmotGroup, depth: Int = 1, seed: UInt64 = 1) {
        self.group = group
        self.depth = depth
        self.random = SeededGenerator(seed: seed, stream: "back-dater")
    }

    /// Reads events in the order of a relay. Returns its own commits.
    mutating func answer(_ events: [Event], now: UnixTime) throws -> [Event] {
        var answers: [Event] = []
        for event in events where event.kind == .groupEvent && self.known.insert(event.id).inserted {
            var next = self.group
            guard case .commit(let report) = next.ingest(event, now: now) else { continue }
            self.earlier.append((self.group, report.createdAt))
            self.group = next
            guard self.earlier.count >= self.depth || report.removedSelf else { continue }
            let (before, createdAt) = self.earlier[0]
            self.earlier = []
            self.group = before
            let commit = try self.group.commit(
                .selfUpdate, client: "hostile", now: createdAt - 1, using: &self.random)
            _ = try self.group.mergePending()
            self.known.insert(commit.event.id)
            self.answerCount += 1
            answers.append(commit.event)
        }
        return answers
    }
}
