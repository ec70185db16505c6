import BotTesting
import MLS
import Nostr

@testable import Marmot
@testable import PikaCore

/// Single operations of a run.
extension HostileRun {
    func operate() async throws {
        switch Int.random(in: 0..<100, using: &self.random) {
        case 0..<36: try await self.actHonestly()
        case 36..<46: try await self.wait()
        case 46..<64: try await self.attackAsMember()
        case 64..<80: try await self.attackAsAdmin()
        case 80..<91:
            let act = StrangerAct.allCases.randomElement(using: &self.random) ?? .rewrap
            let view = self.view(of: &self.stranger)
            try await self.publish(try? act.perform(by: &self.stranger, view), "stranger \(act)", goesBack: false)
        default:
            let act = RelayAct.allCases.randomElement(using: &self.random) ?? .replay
            self.note("relay \(act)")
            act.perform(
                at: self.hostileRelay, in: self.lab.network, knowing: self.lab.network.events(at: self.honestRelay),
                using: &self.random)
        }
    }

    // MARK: Honest members

    private func actHonestly() async throws {
        guard let actor = self.honest.filter({ !$0.hasCrashed }).randomElement(using: &self.random) else { return }
        let isInQuiet = self.honestMembers(of: self.quiet).contains { $0 === actor }
        let chat = isInQuiet && Int.random(in: 0..<3, using: &self.random) == 0 ? self.quiet : self.attacked
        let choice = Int.random(in: 0..<20, using: &self.random)
        // An offline member commits nothing.
        guard choice >= 10, actor !== self.away else { return self.say(actor, chat) }
        let other = self.honest.randomElement(using: &self.random) ?? actor
        switch choice {
        case 10, 11: self.begin(actor, chat, .renameGroup(chatID: chat, name: "name \(self.trace.count)"), "renames")
        case 12, 13: self.begin(actor, chat, .updateGroupKeys(chatID: chat), "renews its keys in")
        case 14:
            self.begin(actor, chat, .setGroupDescription(chatID: chat, description: "\(self.trace.count)"), "describes")
        case 15:
            let adversary = Bool.random(using: &self.random) ? self.member : self.admin
            self.begin(
                actor, self.attacked, .removeGroupMembers(chatID: self.attacked, peers: [adversary.keys.publicKey]),
                "removes \(adversary.name) from")
        case 16:
            let peers = [self.member.keys.publicKey, self.admin.keys.publicKey] + self.honest.map(\.publicKey)
            let peer = peers.randomElement(using: &self.random) ?? peers[0]
            self.begin(
                actor, self.attacked, .addGroupMembers(chatID: self.attacked, peers: [peer]),
                "adds \(self.name(peer)) to")
        case 17:
            let admins = [actor, other, self.founder].map(\.publicKey) + [self.admin.keys.publicKey]
            self.begin(
                actor, self.attacked, .setGroupAdmins(chatID: self.attacked, admins: Array(Set(admins)).sorted()),
                "sets admins of")
        case 18:
            guard self.away == nil, self.harmed.isEmpty, other !== self.founder else { return }
            self.note("cut \(other.name)")
            self.away = other
            self.lab.network.cutOff(other.name, from: self.honestRelay)
        default:
            guard self.away == nil, self.harmed.isEmpty else { return try await self.bringBack() }
            self.note("crash \(other.name)")
            self.away = other
            other.crash()
        }
    }

    func say(_ member: LabMember, _ chat: ChatID) {
        guard !member.hasCrashed else { return }
        let text = "\(self.sent.count)"
        self.sent[text] = (chat, member.publicKey)
        self.begin(member, chat, .sendMessage(chatID: chat, .text(text)), "says \(text) in")
    }

    private func begin(_ member: LabMember, _ chat: ChatID, _ action: AppAction, _ what: String) {
        self.note("\(member.name) \(what) \(chat == self.quiet ? "quiet" : "attacked")")
        self.actions[member.name, default: 0] += 1
        member.begin(action)
    }

    private func wait() async throws {
        let seconds = Int.random(in: 1..<60, using: &self.random)
        self.note("\(seconds) s")
        if seconds > 20 { try await self.bringBack() }
        try await self.lab.advance(by: .seconds(seconds))
    }

    // MARK: Adversaries

    private func attackAsMember() async throws {
        let act = MemberAct.allCases.randomElement(using: &self.random) ?? .speak
        let depth = try await self.maximumDepth(act.needsLevelGroup)
        let view = self.view(of: &self.member)
        guard let id = self.member.groups.keys.sorted().randomElement(using: &self.random) else { return }
        let events = try? act.perform(by: &self.member, in: id, view, maximumDepth: depth)
        try await self.publish(events, "member \(act)", goesBack: act.needsLevelGroup)
    }

    private func attackAsAdmin() async throws {
        // An admin is a member too.
        if Int.random(in: 0..<4, using: &self.random) == 0 {
            let act = MemberAct.allCases.randomElement(using: &self.random) ?? .speak
            let depth = try await self.maximumDepth(act.needsLevelGroup)
            let view = self.view(of: &self.admin)
            guard let id = self.admin.groups.keys.sorted().randomElement(using: &self.random) else { return }
            let events = try? act.perform(by: &self.admin, in: id, view, maximumDepth: depth)
            return try await self.publish(events, "admin \(act)", goesBack: act.needsLevelGroup)
        }
        let act = AdminAct.allCases.randomElement(using: &self.random) ?? .claimID
        // One member at a time is offline or harmed by an admin.
        let isHarmful = act == .remove || act == .inviteToRival
        if isHarmful, self.away != nil || !self.harmed.isEmpty { return }
        let depth = try await self.maximumDepth(act.needsLevelGroup)
        var view = self.view(of: &self.admin)
        guard let id = self.attacked.groupID else { return }
        let victim = view.victims.randomElement(using: &self.random)
        if isHarmful { view.victims = victim.map { [$0] } ?? [] }
        let events = try? act.perform(by: &self.admin, in: id, view, maximumDepth: depth)
        if events != nil, isHarmful, let victim { self.harmed.insert(victim) }
        try await self.publish(events, "admin \(act)", goesBack: act.needsLevelGroup)
    }

    /// The number of epochs that a commit may go back without splitting the group permanently.
    private func maximumDepth(_ needsLevelGroup: Bool) async throws -> Int {
        guard needsLevelGroup else { return 1 }
        try await self.lab.settle()
        let isLevel = try await self.isLevel()
        return self.away == nil && isLevel ? HostileGroup.maximumPast : Self.safeDepth
    }

    /// An adversary's view after it has read the relays.
    private func view(of account: inout HostileAccount) -> HostileView {
        let events = self.lab.network.events(at: self.honestRelay)
        account.follow(events, now: self.now)
        return HostileView(
            now: self.now, relays: self.lab.relays, events: events,
            victims: self.honest.dropFirst().map(\.publicKey),
            quietID: self.quietID)
    }

    func follow() {
        let events = self.lab.network.events(at: self.honestRelay)
        self.member.follow(events, now: self.now)
        self.admin.follow(events, now: self.now)
    }

    /// Publishes events on both relays, or on the honest one some operations later.
    ///
    /// - Parameter goesBack: whether one of the commits goes back some epochs. All members read it before they
    /// continue.
    private func publish(_ events: [Event]?, _ what: String, goesBack: Bool) async throws {
        guard let events, !events.isEmpty else { return self.note("\(what) (nothing)") }
        let isWithheld = !goesBack && self.withheld.isEmpty && Int.random(in: 0..<4, using: &self.random) == 0
        self.note("\(what)\(isWithheld ? " withheld" : "") \(events[0].id.hex.prefix(4))")
        for event in events {
            self.lab.network.inject(event, at: self.hostileRelay)
            if isWithheld {
                self.withheld.append((event, self.operations + Int.random(in: 1...3, using: &self.random)))
            } else {
                self.lab.network.inject(event, at: self.honestRelay)
            }
        }
        if goesBack { try await self.lab.settle() }
    }
}
