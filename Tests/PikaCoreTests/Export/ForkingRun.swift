import BotTesting
import Nostr

@testable import Marmot
@testable import PikaCore

/// Five accounts in one group of the second generation with a throw-away member. Their random operations fork the
/// group: an account that receives no events commits on an old state, and events arrive late and in another order.
final class ForkingRun {
    private static let accounts = 5
    private static let maximumUndeliveredChanges = 4

    let lab: GroupLab
    let paper: PaperMember
    private(set) var members: [LabMember] = []
    private(set) var chat: ChatID = ""
    private(set) var trace: [String] = []
    /// Joins and leaves; it exports no transcript, because it does not see everything.
    private var guest: LabMember?
    private var random: SeededGenerator
    private var texts = 0
    /// The number of changes since everything was delivered. Branches of more than five commits cannot be reconciled.
    private var undeliveredChanges = 0

    init(seed: UInt64) async throws {
        self.lab = try GroupLab(seed: seed, schedule: .shuffled, groupProtocol: .v2)
        self.random = SeededGenerator(seed: seed, stream: "operations")
        self.paper = try PaperMember(seed: seed, relays: self.lab.relays, now: self.lab.clock.now)
        self.lab.network.recordArrivals(of: .groupEvent, clock: self.lab.clock)
        for event in self.paper.events { self.lab.network.inject(event, at: self.lab.relay) }
        for number in 0..<Self.accounts { self.members.append(try await self.lab.member("m\(number)")) }
        self.guest = try await self.lab.member("guest")
        let peers = self.members.dropFirst().map(\.publicKey) + [self.paper.keys.publicKey]
        let outcome = try await self.members[0].perform(.createGroupChat(name: "forks", peers: peers))
        guard case .done(let chat?) = outcome else { throw LabError(.unmet, "the group was not founded") }
        self.chat = chat
        try await self.members[0].perform(
            .setGroupAdmins(chatID: chat, admins: self.members[..<3].map(\.publicKey)))
        try await self.lab.advance(by: .seconds(5))
    }

    func run(operations: Int) async throws {
        for _ in 0..<operations {
            try await self.operate()
            if self.undeliveredChanges == Self.maximumUndeliveredChanges { try await self.reconcile() }
            if Bool.random(using: &self.random) { try await self.lab.settle() }
        }
    }

    /// Ends all faults and settles the lab; then every account sends two messages, a while apart.
    func finish() async throws {
        try await self.reconcile()
        try await self.lab.advance(by: .seconds(300))
        for _ in 0..<2 {
            for member in self.members { self.say(member) }
            try await self.lab.advance(by: .seconds(30))
        }
    }

    /// Ends all faults, and lets every account choose its branch and make its lost changes again.
    private func reconcile() async throws {
        self.note("rest")
        self.lab.network.deliverEverything()
        self.lab.network.heal()
        self.lab.network.release(shuffledBy: &self.random)
        try await self.lab.advance(by: .seconds(30))
        self.undeliveredChanges = 0
    }

    // MARK: Operations

    private func operate() async throws {
        let actor = self.members[Int.random(in: 0..<Self.accounts, using: &self.random)]
        let number = self.trace.count
        switch Int.random(in: 0..<30, using: &self.random) {
        case 0..<9: self.say(actor)
        case 9..<12: self.begin(actor, .renameGroup(chatID: self.chat, name: "name \(number)"), "renames")
        case 12..<15: self.begin(actor, .updateGroupKeys(chatID: self.chat), "renews its keys")
        case 15: self.begin(actor, .setGroupDescription(chatID: self.chat, description: "\(number)"), "describes")
        case 16:
            let count = Int.random(in: 2...4, using: &self.random)
            let admins = self.members[..<count].map(\.publicKey)
            self.begin(actor, .setGroupAdmins(chatID: self.chat, admins: admins), "appoints \(count) admins")
        case 17: self.begin(actor, .setDisappearingMessages(chatID: self.chat, seconds: 86_400), "sets the retention")
        case 18, 19:
            guard let guest else { return }
            self.begin(actor, .addGroupMembers(chatID: self.chat, peers: [guest.publicKey]), "adds the guest")
        case 20:
            guard let guest else { return }
            self.begin(actor, .removeGroupMembers(chatID: self.chat, peers: [guest.publicKey]), "removes the guest")
        case 21:
            guard let guest, try await guest.summary(of: self.chat)?.isActive == true else { return }
            self.begin(guest, .leaveGroup(chatID: self.chat), "leaves")
        case 22, 23:
            self.note("stall \(actor.name)")
            self.lab.network.stall(actor.name, at: self.lab.relay)
        case 24:
            self.note("heal")
            self.lab.network.heal()
        case 25:
            self.note("hold")
            self.lab.network.onPublish { $0.event.kind == .groupEvent ? .holdAnswer : .deliver }
        case 26:
            self.note("release")
            self.lab.network.deliverEverything()
            self.lab.network.release(shuffledBy: &self.random)
        default:
            let milliseconds = Int.random(in: 50..<4000, using: &self.random)
            self.note("\(milliseconds) ms")
            try await self.lab.advance(by: .milliseconds(milliseconds))
        }
    }

    private func say(_ member: LabMember) {
        self.texts += 1
        self.begin(member, .sendMessage(chatID: self.chat, .text("\(self.texts)")), "says \(self.texts)")
    }

    private func begin(_ member: LabMember, _ action: AppAction, _ what: String) {
        self.note("\(member.name) \(what)")
        if case .sendMessage = action {} else { self.undeliveredChanges += 1 }
        member.begin(action)
    }

    private func note(_ what: String) { self.trace.append(what) }

    // MARK: Seats

    /// Returns the events that the throw-away member would have received in a member's place, and that member's final
    /// state.
    func transcript(fromSeatOf member: LabMember) async throws -> GroupTranscript {
        guard let wrap = self.lab.network.giftWrap(for: self.paper.keys.publicKey) else {
            throw LabError(.unmet, "the throw-away member was not invited")
        }
        var transcript = GroupTranscript("seed-\(self.lab.seed)-\(member.name)", of: self.paper, invitedBy: wrap)
        for arrival in self.lab.network.arrivals?.at(member.name) ?? [] {
            try transcript.append(arrival.event, atMilliseconds: arrival.milliseconds)
        }
        transcript.pass(toMilliseconds: self.lab.clock.nowMilliseconds)
        try transcript.addKeyPackages(self.lab.network.events(at: self.lab.relay))
        guard let group = try await member.secondGroup(of: self.chat) else {
            throw LabError(.unmet, "\(member.name) is not in the group")
        }
        transcript.end(with: group.tip)
        return transcript
    }
}
