import MLS
import Nostr

@testable import BotTesting
@testable import Marmot
@testable import PikaCore

/// Stated limits of an honest account's state and work in a group of the second generation.
enum BranchBounds {
    /// Admitted inputs, each in a row of its own.
    static let inputs =
        AdmittedInputs.commitLimit.count + AdmittedInputs.proposalLimit.count + AdmittedInputs.messageLimit.count
    /// Further rows: the tip, the outline, retained states with their origins, own commits, final dispositions.
    static let otherRows =
        ClosedInputs.limit / ClosedInputs.chunkSize + 128 + 4 * OwnBranchCommits<ComponentBranch>.limit
    /// Bytes of the inputs' messages, with an allowance of a quarter for the other rows.
    static let rowBytes =
        (AdmittedInputs.commitLimit.bytes + AdmittedInputs.proposalLimit.bytes + AdmittedInputs.messageLimit.bytes) / 4
        * 5
    /// Memos, and one for each own message that waits for the end of a pass.
    static let memos = CampaignBounds.memos + CampaignBounds.memosPerGroup
    /// Group events published for each action of the account: its commit or message, made again as often as its branch
    /// may lose.
    static let eventsPerAction = CampaignBounds.eventsPerAction
    static let otherEvents = 64
    /// Store commits for each received event, action, and end of a pass.
    static let commitsPerInput = 2
    /// Decryption attempts of the outer layer for each received event: one for each readable state.
    static let trialsPerEvent =
        1 + ConvergencePolicy.standard.maximumRewind + 1
        + GroupConvergence<ComponentBranch>.maximumUnselectedStates
}

/// The largest measured values of all honest accounts in a run.
struct BranchLedger {
    private(set) var violations: [String] = []
    private(set) var peaks: [String: Double] = [:]

    /// Compares the state and work of each honest account with the bounds.
    mutating func measure(_ run: BranchCampaign) async throws {
        for member in run.honest where !member.hasCrashed {
            let state = try await member.store.load()
            let rows = state.groups
            let bytes = rows.reduce(0) { sum, row in
                row.records.values.reduce(sum + row.header.count) { $0 + $1.count }
            }
            self.check("group rows", rows.count, BranchBounds.inputs + BranchBounds.otherRows, member)
            self.check("group bytes", bytes, BranchBounds.rowBytes, member)
            let carriers = state.memos.keys.filter { $0.kind == .carrierEvent }.count
            self.check("carrier events", carriers, BranchBounds.inputs, member)
            let memos = state.memos.count - carriers
            self.check("memos", memos, BranchBounds.memos + (run.actions[member.name] ?? 0), member)
            self.check("waiting", state.waiting.count, PendingEvents.standardAccount.events, member)
            self.check(
                "waiting bytes", state.waiting.reduce(0) { $0 + $1.event.parkedBytes },
                PendingEvents.standardAccount.bytes, member)
            self.check("inbox", state.inbox.count, 0, member)
            self.check("seen", state.seen.count, SeenEvents.standardCapacity, member)
            self.check("refused", state.refused.count, SeenEvents.standardRefusedCapacity, member)
            try await self.measureWork(member, run)
        }
    }

    private mutating func measureWork(_ member: LabMember, _ run: BranchCampaign) async throws {
        let traffic = run.lab.network.traffic(of: member.name)
        let actions = run.actions[member.name] ?? 0
        let own = run.lab.network.publications.filter { $0.publication.sender == member.name }
        let groupEvents = Set(own.map(\.publication.event).filter { $0.kind == .groupEvent }.map(\.id)).count
        self.check(
            "group events", groupEvents, BranchBounds.eventsPerAction * actions + BranchBounds.otherEvents, member)
        let inputs =
            traffic.events + traffic.requests + traffic.connections + own.count + actions + run.trace.count + 50
        self.check("store commits", member.store.commitCount, BranchBounds.commitsPerInput * inputs, member)
        let core = member.core
        guard let vitals = try await member.lab.run({ await core.vitals() }) else { return }
        self.check("held", vitals.parked.held, HeldLiveEvents.standard.events, member)
        self.check("held bytes", vitals.parked.heldBytes, HeldLiveEvents.standard.bytes, member)
        self.check("trials", vitals.parked.trials, BranchBounds.trialsPerEvent * (traffic.events + 1), member)
    }

    private mutating func check(_ what: String, _ value: Int, _ bound: Int, _ member: LabMember) {
        let share = bound == 0 ? Double(value) : Double(value) / Double(bound)
        self.peaks[what] = max(self.peaks[what] ?? 0, share)
        if value > bound { self.violations.append("\(member.name): \(value) \(what), at most \(bound) are allowed") }
    }
}
