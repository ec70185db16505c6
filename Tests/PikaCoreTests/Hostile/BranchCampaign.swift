import BotTesting
import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// Honest accounts at work in a group of the second generation while a member with two devices and an admin attack the
/// choice between branches, and a relay and a flood of junk help them; all from one seed.
///
/// The adversaries avoid attacks that the protocol cannot survive:
///
/// - One relay is honest, keeps accepted events, and gets every event at most ``patience`` operations late.
/// - Members undo at most five commits, so a branch that begins more than ``safeDepth`` epochs before the tip splits
/// members in different epochs. It is published only while all are in the same one, and all read it at once.
/// - The admin removes no honest member, demotes none, and does not disband the group: an admin may do all this.
final class BranchCampaign {
    static let honestCount = 4
    static let safeDepth = 2
    static let patience = 2

    let lab: GroupLab
    private(set) var honest: [LabMember] = []
    private(set) var chat: ChatID = ""
    private(set) var trace: [String] = []
    /// The senders of the texts of honest accounts.
    private(set) var sent: [String: PublicKey] = [:]
    /// The changes that honest admins have asked for.
    private(set) var changes: [(member: LabMember, request: RequestID)] = []
    private(set) var actions: [String: Int] = [:]
    private(set) var ledger = BranchLedger()
    private var member: BranchAdversary
    /// Another device of the member's account.
    private var twin: BranchAdversary
    private var admin: BranchAdversary
    private var random: SeededGenerator
    /// Events that only the hostile relay has, with the number of the operation that discloses them.
    private var withheld: [(event: Event, until: Int)] = []
    /// A secret branch, which began at the tip of that time.
    private var secret: [Event] = []
    private var operations = 0

    private var honestRelay: RelayURL { self.lab.relays[0] }
    private var hostileRelay: RelayURL { self.lab.relays[1] }
    private var now: UnixTime { self.lab.clock.now }
    private var founder: LabMember { self.honest[0] }

    /// The accounts of the adversaries.
    var adversaries: [PublicKey] { [self.member.keys.publicKey, self.admin.keys.publicKey] }

    init(seed: UInt64) async throws {
        let lab = try GroupLab(seed: seed, relays: 2, schedule: .shuffled, groupProtocol: .v2)
        let now = lab.clock.now
        self.lab = lab
        self.random = SeededGenerator(seed: seed, stream: "branch campaign")
        self.member = try BranchAdversary(seed: seed, relays: lab.relays, now: now)
        self.twin = try BranchAdversary(seed: seed, keys: self.member.keys, relays: lab.relays, now: now)
        self.admin = try BranchAdversary(seed: seed &+ 0x1_0000_0000, relays: lab.relays, now: now)
        for event in self.member.invitation + self.admin.invitation {
            for relay in lab.relays { lab.network.inject(event, at: relay) }
        }
        for number in 0..<Self.honestCount {
            self.honest.append(try await lab.member("h\(number)", inviteLimits: CampaignBounds.inviteLimits))
        }
        let peers = self.honest.dropFirst().map(\.publicKey) + self.adversaries
        guard
            case .done(let chat?) = try await self.founder.perform(.createGroupChat(name: "attacked", peers: peers))
        else { throw LabError(.unmet, "the group was not founded") }
        self.chat = chat
        try await self.founder.perform(
            .setGroupAdmins(
                chatID: chat, admins: self.honest[..<2].map(\.publicKey) + [self.admin.keys.publicKey]))
        try await lab.advance(by: .seconds(10))
        try self.follow()
        _ = try self.member.newest()
        _ = try self.admin.newest()
    }

    // MARK: Course

    func run(operations: Int) async throws {
        self.lab.network.setRelayFaults(.hostile, of: self.hostileRelay, seed: self.lab.seed)
        for number in 0..<operations {
            self.operations = number
            try await self.operate()
            self.disclose { $0 <= number }
            if Int.random(in: 0..<10, using: &self.random) < 7 { try await self.lab.settle() }
            if number % 8 == 7 { try await self.measure() }
        }
        try await self.measure()
    }

    private func measure() async throws {
        try await self.lab.settle()
        try await self.ledger.measure(self)
    }

    /// Ends the attacks; every member sends a message. Then an admin removes the adversaries, which publish once more.
    func finish() async throws {
        self.note("rest")
        self.disclose { _ in true }
        self.lab.network.setRelayFaults(.honest, of: self.hostileRelay, seed: 0)
        self.lab.network.takeDown(self.hostileRelay)
        self.lab.network.bringUp(self.hostileRelay)
        try await self.lab.advance(by: .seconds(900))
        for member in self.honest { self.say(member) }
        try await self.lab.advance(by: .seconds(60))
        try self.follow()
        let before = try self.member.newest()
        self.change(
            self.founder, .removeGroupMembers(chatID: self.chat, peers: try await self.presentAdversaries()),
            "removes the adversaries")
        try await self.lab.advance(by: .seconds(60))
        self.note("a branch by a removed member")
        let branch = try? self.member.branch(4, from: before, now: self.now)
        try await self.publish(branch ?? [], goesBack: true)
        try await self.lab.advance(by: .seconds(120))
        for member in self.honest { self.say(member) }
        try await self.lab.advance(by: .seconds(60))
        try await self.ledger.measure(self)
    }

    private func presentAdversaries() async throws -> [PublicKey] {
        let members = try await self.founder.secondGroup(of: self.chat)?.tip.members ?? []
        return self.adversaries.filter(members.contains)
    }

    private func operate() async throws {
        switch Int.random(in: 0..<100, using: &self.random) {
        case 0..<40: try await self.actHonestly()
        case 40..<52:
            let milliseconds = Int.random(in: 200...8000, using: &self.random)
            self.note("\(milliseconds) ms")
            try await self.lab.advance(by: .milliseconds(milliseconds))
        case 52..<86: try await self.attack()
        case 86..<94: try await self.attackWithTwin()
        default:
            self.note("relay repeats")
            for event in self.lab.network.events(at: self.honestRelay).suffix(20) {
                self.lab.network.inject(event, at: self.hostileRelay)
            }
        }
    }

    // MARK: Honest members

    private func actHonestly() async throws {
        guard let actor = self.honest.randomElement(using: &self.random) else { return }
        switch Int.random(in: 0..<20, using: &self.random) {
        case 0..<11: self.say(actor)
        case 11..<14:
            let admin = self.honest[Int.random(in: 0...1, using: &self.random)]
            self.change(admin, .renameGroup(chatID: self.chat, name: "name \(self.trace.count)"), "renames")
        case 14:
            self.change(
                self.founder, .setGroupDescription(chatID: self.chat, description: "\(self.trace.count)"), "describes")
        case 15..<18:
            self.note("\(actor.name) renews its keys")
            self.begin(actor, .updateGroupKeys(chatID: self.chat))
        default:
            self.note("\(actor.name) crashes")
            // The new process knows the changes, but not their requests.
            self.changes.removeAll { $0.member === actor && actor.outcome(of: $0.request) == nil }
            actor.crash()
            try await actor.restart()
        }
    }

    private func say(_ member: LabMember) {
        let text = "\(self.sent.count)"
        self.sent[text] = member.publicKey
        self.note("\(member.name) says \(text)")
        self.begin(member, .sendMessage(chatID: self.chat, .text(text)))
    }

    private func change(_ member: LabMember, _ action: AppAction, _ what: String) {
        self.note("\(member.name) \(what)")
        self.changes.append((member, self.begin(member, action)))
    }

    @discardableResult
    private func begin(_ member: LabMember, _ action: AppAction) -> RequestID {
        self.actions[member.name, default: 0] += 1
        return member.begin(action)
    }

    // MARK: Adversaries

    private func attack() async throws {
        try self.follow()
        let isAdmin = Bool.random(using: &self.random)
        let act = BranchAct.allCases.randomElement(using: &self.random) ?? .rival
        let name = "\(isAdmin ? "admin" : "member") \(act)"
        let depth = try await act.goesBack ? self.maximumDepth() : 1
        let events = self.lab.network.events(at: self.honestRelay)
        let made: [Event]?
        if isAdmin {
            made = try? act.perform(by: &self.admin, isAdmin: true, reading: events, maximumDepth: depth, now: self.now)
        } else {
            made = try? act.perform(
                by: &self.member, isAdmin: false, reading: events, maximumDepth: depth, now: self.now)
        }
        guard let made, !made.isEmpty else { return self.note("\(name) (nothing)") }
        self.note("\(name) \(made.count)")
        guard act == .withhold else { return try await self.publish(made, goesBack: act.goesBack) }
        // A branch in secret, disclosed when the next one is made.
        let old = self.secret
        self.secret = made
        // It began at a tip that may be more epochs ago than the members can undo.
        _ = try await self.maximumDepth()
        try await self.publish(try await self.isLevel() ? old : [], goesBack: true)
    }

    /// Both devices of one account speak in one state, on a branch of their own.
    private func attackWithTwin() async throws {
        try self.follow()
        if (try? self.twin.newest()) == nil {
            let added = try? self.admin.add(&self.twin, to: self.admin.newest(), now: self.now)
            self.note("admin adds a second device\(added == nil ? " (nothing)" : "")")
            return try await self.publish(added.map { [$0] } ?? [], goesBack: false)
        }
        var events: [Event] = []
        if let event = try? self.member.branch(1, from: self.member.newest(), now: self.now) { events += event }
        try self.twin.follow(events)
        if let event = try? self.member.say("junk of the first", now: self.now) { events.append(event) }
        if let event = try? self.twin.say("junk of the second", now: self.now) { events.append(event) }
        self.note("two devices speak \(events.count)")
        try await self.publish(events, goesBack: false)
    }

    /// The number of epochs before the newest one in which a branch may begin.
    private func maximumDepth() async throws -> Int {
        try await self.lab.advance(by: .seconds(8))
        try self.follow()
        return try await self.isLevel() ? ConvergencePolicy.standard.maximumRewind + 2 : Self.safeDepth
    }

    /// Whether all honest members are in the same settled state, and no event is withheld from any of them.
    private func isLevel() async throws -> Bool {
        var states: Set<[UInt8]> = []
        for member in self.honest {
            guard let group = try await member.secondGroup(of: self.chat), group.convergence.status == .settled,
                group.pending == nil
            else { return false }
            states.insert(group.tip.mls.epochAuthenticator.copyBytes())
        }
        return states.count == 1 && self.withheld.isEmpty
    }

    private func follow() throws {
        let events = self.lab.network.events(at: self.honestRelay)
        try self.member.follow(events)
        try self.admin.follow(events)
        if (try? self.twin.newest()) != nil { try self.twin.follow(events) }
    }

    /// Publishes events on both relays, or on the honest one some operations later. Branches from earlier epochs are read
    /// by all members at once.
    private func publish(_ events: [Event], goesBack: Bool) async throws {
        let isWithheld = !goesBack && self.withheld.isEmpty && Int.random(in: 0..<4, using: &self.random) == 0
        for event in events {
            self.lab.network.inject(event, at: self.hostileRelay)
            if isWithheld {
                self.withheld.append((event, self.operations + Int.random(in: 1...Self.patience, using: &self.random)))
            } else {
                self.lab.network.inject(event, at: self.honestRelay)
            }
        }
        if goesBack { try await self.lab.advance(by: .seconds(8)) }
    }

    private func disclose(_ isDue: (Int) -> Bool) {
        for entry in self.withheld where isDue(entry.until) {
            self.lab.network.inject(entry.event, at: self.honestRelay)
        }
        self.withheld.removeAll { isDue($0.until) }
    }

    private func note(_ what: String) { self.trace.append(what) }
}
