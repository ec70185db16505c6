import MLS
import Nostr
import Testing

@testable import Marmot

/// A member that follows a group of the second generation from its events, through the selection of branches.
struct BranchFollower {
    private(set) var machine: GroupConvergence<ComponentBranch>
    private var waiting: [(step: Int, event: Event)] = []
    private var digests: [Int: Bytes32] = [:]
    /// Messages that were used: delivered ones with a valid inner event, applied commits and valid proposals.
    private var used: Set<Bytes32> = []
    private var now: Int64 = 0

    init(_ group: ComponentGroup) throws {
        let start = try #require(Bytes32([UInt8](repeating: 0, count: 32)))
        self.machine = GroupConvergence(ComponentBranch(group), id: start)
    }

    /// Receives an event; keeps it if no key opens it yet.
    mutating func receive(_ event: Event, step: Int) {
        self.waiting.append((step, event))
        self.retry()
    }

    /// Ends passes until no further input is undecided.
    mutating func settle() {
        for _ in 0..<3 {
            self.now += 6000
            self.note(self.machine.advance(now: self.now))
            self.retry()
        }
    }

    private mutating func retry() {
        let attempts = self.waiting
        self.waiting = []
        for attempt in attempts { self.open(attempt) }
    }

    private mutating func open(_ attempt: (step: Int, event: Event)) {
        let groups = self.machine.readableStates.map(\.group)
        let ids = groups.flatMap { [$0.nostrGroupID] + $0.formerNostrGroupIDs }.map(\.hex)
        // The core finds the group by the routing id.
        guard let id = attempt.event.firstTag("h")?.value, ids.contains(id) else { return }
        do throws(MarmotError) {
            guard let message = try ComponentGroup.open(attempt.event, over: groups) else {
                self.waiting.append(attempt)
                return
            }
            self.digests[attempt.step] = message.digest
            self.note(self.machine.receive(ConvergenceInput(message), now: self.now))
        } catch {}
    }

    private mutating func note(_ effects: [ConvergenceEffect<ComponentBranch>]) {
        for effect in effects {
            switch effect {
            case .delivered(let delivery):
                if (try? delivery.message.payload.get()) != nil { self.used.insert(delivery.id) }
            case .moved(let move): self.used.formUnion(move.applied.map(\.id))
            case .proposed(let id, _): self.used.insert(id)
            case .disposed, .settled, .halted: break
            }
        }
    }

    /// Whether the event of a step had an effect.
    func uses(_ step: Int) -> Bool { self.digests[step].map { self.used.contains($0) } ?? false }
}
