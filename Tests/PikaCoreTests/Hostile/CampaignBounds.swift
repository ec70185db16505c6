import Nostr

@testable import BotTesting
@testable import Marmot
@testable import PikaCore

/// Limits of an honest account's work caused by adversaries.
enum CampaignBounds {
    /// The configured limits of the honest accounts.
    static let inviteLimits = CoreConfiguration.InviteLimits(
        perInviter: RateLimit(6, per: .seconds(3600)), strangers: RateLimit(3, per: .seconds(3600)))

    /// Stored rows for each group: the group itself, a snapshot for each epoch that can be rolled back, a pending
    /// commit, shelved commits, two former states, and one branch.
    static let rowsPerGroup = 1 + MarmotProfile.mip.pastEpochs + 1 + MarmotGroup.maximumShelved + 2 + 1
    /// Memos: a few for the account, and some for each group and invitation.
    static let memos = 24
    static let memosPerGroup = 16

    /// Group events published for each of the account's actions: its commit or message, repeated as often as it may be
    /// rolled back (``Intents/maximumLosses``).
    static let eventsPerAction = Intents.maximumLosses + 1
    /// Further events for each group that was joined: a new key package in two forms, the deletion of the old one, and
    /// the commit of a departure.
    static let eventsPerGroup = 8
    /// Store commits for each received event and each action: at most one turn of the core, and its follow-ups.
    static let commitsPerInput = 1
    /// Decryption attempts of the outer layer for each received event.
    static let trialsPerEvent = 6
    /// Requests for stored events for each new connection and each operation. After a change of its id, a group is read
    /// from each of its relays.
    static let requestsPerOccasion = 12
}

/// The largest measured values of all honest accounts in a run.
struct CampaignLedger {
    private(set) var violations: [String] = []
    private(set) var peaks: [String: Double] = [:]

    /// Compares the state and work of each honest account with the bounds.
    mutating func measure(_ run: HostileRun) async throws {
        for member in run.honest where !member.hasCrashed {
            try await self.measureMemory(member)
            try await self.measureWork(member, run)
        }
    }

    private mutating func measureMemory(_ member: LabMember) async throws {
        let state = try await member.store.load()
        let bytes = state.waiting.reduce(0) { $0 + $1.event.parkedBytes }
        let groups = Set(state.groups.compactMap { StoredGroupKey(stored: $0.key)?.groupID }).count
        self.check("waiting", state.waiting.count, PendingEvents.standardAccount.events, member)
        self.check("waiting bytes", bytes, PendingEvents.standardAccount.bytes, member)
        self.check("invites", state.invites.count, InviteBudget.standard.events, member)
        self.check("inbox", state.inbox.count, 0, member)
        self.check("seen", state.seen.count, SeenEvents.standardCapacity, member)
        self.check("refused", state.refused.count, SeenEvents.standardRefusedCapacity, member)
        self.check("group rows", state.groups.count, groups * CampaignBounds.rowsPerGroup, member)
        self.check("memos", state.memos.count, CampaignBounds.memos + groups * CampaignBounds.memosPerGroup, member)
        let core = member.core
        guard let vitals = try await member.lab.run({ await core.vitals() }) else { return }
        self.check("held", vitals.parked.held, HeldLiveEvents.standard.events, member)
        self.check("held bytes", vitals.parked.heldBytes, HeldLiveEvents.standard.bytes, member)
        self.check("waiting in memory", vitals.parked.waiting, PendingEvents.standardAccount.events, member)
        self.check("relays", vitals.state.relays.count, RelaySelection.ofGroups + 2, member)
    }

    private mutating func measureWork(_ member: LabMember, _ run: HostileRun) async throws {
        let traffic = run.lab.network.traffic(of: member.name)
        let actions = run.actions[member.name] ?? 0
        let groups = Set(member.events.map(\.chatID)).count
        let rollbacks = Set(member.commits.filter(\.rolledBack).map(\.id)).count
        let own = run.lab.network.publications.filter { $0.publication.sender == member.name }
        let groupEvents = Set(own.map(\.publication.event).filter { $0.kind == .groupEvent }.map(\.id)).count
        let others = Set(own.map(\.publication.event).filter { $0.kind != .groupEvent }.map(\.id)).count
        let allowed = CampaignBounds.eventsPerAction * actions + CampaignBounds.eventsPerGroup * (groups + 1)
        self.check("group events", groupEvents, allowed, member)
        self.check("other events", others, CampaignBounds.eventsPerGroup * (groups + actions + 2), member)
        let inputs = traffic.events + traffic.requests + traffic.connections + own.count + actions + 50
        self.check("store commits", member.store.commitCount, CampaignBounds.commitsPerInput * inputs, member)
        self.check(
            "requests", traffic.requests,
            CampaignBounds.requestsPerOccasion * (traffic.connections + run.trace.count + groups), member)
        let core = member.core
        guard let vitals = try await member.lab.run({ await core.vitals() }) else { return }
        self.check(
            "trials", vitals.parked.trials, CampaignBounds.trialsPerEvent * (traffic.events + rollbacks), member)
    }

    private mutating func check(_ what: String, _ value: Int, _ bound: Int, _ member: LabMember) {
        let share = bound == 0 ? Double(value) : Double(value) / Double(bound)
        self.peaks[what] = max(self.peaks[what] ?? 0, share)
        if value > bound { self.violations.append("\(member.name): \(value) \(what), at most \(bound) are allowed") }
    }
}
