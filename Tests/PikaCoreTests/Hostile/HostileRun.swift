import BotTesting
import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// Honest accounts at work while a member, an admin, a relay and a stranger attack, all from one seed.
///
/// The adversaries avoid attacks that the protocol cannot survive:
///
/// - One relay of every group is honest and keeps accepted events. A group that can only be reached over the hostile
/// relay is lost.
/// - One honest member at a time is offline, and it commits nothing meanwhile. Members roll back at most five epochs,
/// so a commit for the oldest of them splits members in different epochs. A single separated member recovers, because
/// it sees two others active; two halves cannot tell which of them is right.
/// - For the same reason, commits go back more than ``safeDepth`` epochs only while all members are in the same epoch,
/// and all of them read such a commit at the same time.
/// - A back-dated commit is inside the 45 days (MIP-03) throughout a run. One at the edge is accepted only by members
/// that read it in time.
/// - An admin can remove a member, or lure it away by an invitation to another state of the group: nothing ties a
/// Welcome to the history of its group (MIP-02). This happens to one member of a run, and no member is offline then.
/// - A commit has one path secret for all members. Members that receive different ones cannot detect it.
final class HostileRun {
    static let safeDepth = 2
    static let honestCount = 4

    let lab: GroupLab
    private(set) var honest: [LabMember] = []
    /// The chats with and without adversaries.
    private(set) var attacked: ChatID = ""
    private(set) var quiet: ChatID = ""
    var member: HostileAccount
    var admin: HostileAccount
    var stranger: HostileAccount
    var random: SeededGenerator
    /// The routing id of the quiet group.
    var quietID: Bytes32
    /// The honest member that cannot reach the honest relay, or has crashed.
    var away: LabMember?
    /// The honest members that the hostile admin has removed or lured away.
    var harmed: Set<PublicKey> = []
    /// Events that only the hostile relay has, with the number of the operation that discloses them.
    var withheld: [(event: Event, until: Int)] = []
    /// Messages of honest accounts: the chat and the sender of each text.
    var sent: [String: (chat: ChatID, sender: PublicKey)] = [:]
    /// Dispatched actions of each honest account.
    var actions: [String: Int] = [:]
    private(set) var operations = 0
    private(set) var trace: [String] = []
    var ledger = CampaignLedger()

    var honestRelay: RelayURL { self.lab.relays[0] }
    var hostileRelay: RelayURL { self.lab.relays[1] }
    /// The lab's time in Unix seconds.
    var now: UnixTime { self.lab.clock.now }
    /// Never removed and never lured away; the other members are compared with it.
    var founder: LabMember { self.honest[0] }

    init(seed: UInt64) async throws {
        self.lab = try GroupLab(
            seed: seed, relays: 2, schedule: .shuffled, selfUpdate: seed.isMultiple(of: 2) ? .standard : .never)
        let now = self.lab.clock.now
        self.random = SeededGenerator(seed: seed, stream: "campaign")
        self.quietID = .random(using: &self.random)
        self.member = try HostileAccount("mallory", seed: seed, now: now)
        self.admin = try HostileAccount("oscar", seed: seed, now: now)
        self.stranger = try HostileAccount("trudy", seed: seed, now: now)
        for number in 0..<Self.honestCount {
            self.honest.append(try await self.lab.member("h\(number)", inviteLimits: CampaignBounds.inviteLimits))
        }
        for event in self.member.keyPackageEvents(self.lab.relays, now: now)
            + self.admin.keyPackageEvents(self.lab.relays, now: now)
        { for relay in self.lab.relays { self.lab.network.inject(event, at: relay) } }
        try await self.foundGroups()
    }

    private func foundGroups() async throws {
        let peers = self.honest.dropFirst().map(\.publicKey) + [self.member.keys.publicKey, self.admin.keys.publicKey]
        guard
            case .done(let attacked?) = try await self.founder.perform(
                .createGroupChat(name: "attacked", peers: peers)),
            case .done(let quiet?) = try await self.honest[1].perform(
                .createGroupChat(name: "quiet", peers: self.honest[2...].map(\.publicKey)))
        else { throw LabError(.unmet, "a group was not founded") }
        self.attacked = attacked
        self.quiet = quiet
        try await self.founder.perform(
            .setGroupAdmins(
                chatID: attacked,
                admins: [self.founder.publicKey, self.honest[1].publicKey, self.admin.keys.publicKey]))
        self.quietID = try await self.group(quiet, of: self.honest[1])?.data.nostrGroupID ?? self.quietID
        self.follow()
        guard self.member.groups.count == 1, self.admin.groups.count == 1 else {
            throw LabError(.unmet, "an adversary is not in its group")
        }
    }

    /// The active state of a group at an honest member.
    func group(_ chat: ChatID, of member: LabMember) async throws -> MarmotGroup? {
        try await member.storedGroups().first { ChatID($0.groupID) == chat && $0.isActive }
    }

    /// The honest members of a group at its founding.
    func honestMembers(of chat: ChatID) -> [LabMember] { chat == self.quiet ? Array(self.honest[1...]) : self.honest }

    func note(_ what: String) { self.trace.append(what) }

    // MARK: Course

    func run(operations: Int) async throws {
        self.lab.network.setRelayFaults(.hostile, of: self.hostileRelay, seed: self.lab.seed)
        self.lab.network.setFaults(
            LabPublishFaults(lost: 3, answersLost: 5, limited: 3), seed: self.lab.seed)
        for number in 0..<operations {
            self.operations = number
            try await self.operate()
            self.disclose { $0 <= number }
            if Int.random(in: 0..<10, using: &self.random) < 7 { try await self.lab.settle() }
            if number % 8 == 7 { try await self.ledger.measure(self) }
        }
        try await self.lab.settle()
        try await self.ledger.measure(self)
    }

    /// Ends all attacks and faults and settles the lab; then every member sends two messages.
    func finish() async throws {
        self.note("rest")
        self.disclose { _ in true }
        self.lab.network.deliverEverything()
        try await self.bringBack()
        self.lab.network.setRelayFaults(.honest, of: self.hostileRelay, seed: 0)
        self.lab.network.takeDown(self.hostileRelay)
        self.lab.network.bringUp(self.hostileRelay)
        try await self.lab.advance(by: .seconds(1500))
        try await self.everybodySpeaks()
        // A member that missed a back-dated commit reads its group again within six hours.
        if try await !self.isLevel() { try await self.lab.advance(by: .seconds(21_600)) }
        try await self.everybodySpeaks()
        try await self.ledger.measure(self)
    }

    private func everybodySpeaks() async throws {
        for chat in [self.attacked, self.quiet] {
            for member in self.honestMembers(of: chat) { self.say(member, chat) }
        }
        try await self.lab.advance(by: .seconds(400))
    }

    /// Whether all honest members of the attacked group have the same state.
    func isLevel() async throws -> Bool {
        var states: Set<[UInt8]> = []
        for member in self.honest where !member.hasCrashed {
            guard let group = try await self.group(self.attacked, of: member) else { continue }
            states.insert(group.mls.epochAuthenticator.copyBytes())
        }
        return states.count <= 1
    }

    /// Brings the offline member back.
    func bringBack() async throws {
        guard let away = self.away else { return }
        self.note("\(away.name) is back")
        self.away = nil
        self.lab.network.heal()
        if away.hasCrashed { try await away.restart() }
    }

    /// Publishes events that only the hostile relay had on the honest one.
    private func disclose(_ isDue: (Int) -> Bool) {
        for entry in self.withheld where isDue(entry.until) {
            self.lab.network.inject(entry.event, at: self.honestRelay)
        }
        self.withheld.removeAll { isDue($0.until) }
    }
}
