import BotTesting
import Nostr

@testable import MLS
@testable import Marmot

/// Acts of a hostile admin, in addition to those of a hostile member.
enum AdminAct: String, CaseIterable {
    case claimID, renewID, speakUnderFormerID, remove, add, floodRelays, floodAdmins, demote, promote, bloatData
    case setEndlessTimer, damageData, removeAdmins, backDateRename, inviteToEdge, inviteToTrap, inviteToRival

    /// Whether it requires members in the same epoch: see ``HostileRun``.
    var needsLevelGroup: Bool { self == .backDateRename }

    /// The events to publish, in their order.
    func perform(
        by account: inout HostileAccount, in id: GroupID, _ view: HostileView, maximumDepth: Int
    ) throws -> [Event] {
        switch self {
        case .add: return try self.add(&account, id, view)
        case .inviteToEdge, .inviteToTrap, .inviteToRival: return try self.invite(&account, id, view)
        case .speakUnderFormerID:
            let rumor = account.rumor(in: id, createdAt: view.now)
            return try account.act(in: id) { group, random in
                let former = group.current.formerNostrGroupIDs.randomElement(using: &random)
                return [try group.seal(rumor.rumorJSON(), at: view.now, under: former, using: &random)]
            }
        default:
            return try account.act(in: id) { group, random in
                [try self.commit(&group, view, maximumDepth: maximumDepth, &random)]
            }
        }
    }

    // MARK: Commits

    private func commit(
        _ group: inout HostileGroup, _ view: HostileView, maximumDepth: Int, _ random: inout SeededGenerator
    ) throws -> Event {
        var request = CommitRequest()
        if self == .remove {
            guard let victim = view.victims.randomElement(using: &random) else {
                throw MarmotError(.notFound, "no member can be removed now")
            }
            let leaves = group.current.mls.members.filter { (try? $0.leaf.identity()) == victim }
            request.removing = leaves.map(\.index)
            request.extensions = group.current.extensions(withoutAdmins: [victim])
            return try group.commit(request, at: view.now, isFollowed: true, using: &random).event
        }
        if self == .damageData {
            var bytes = group.current.data.encoded()
            bytes.removeLast(Int.random(in: 1...bytes.count / 2, using: &random))
            request.extensions = group.current.mls.extensions.map {
                $0.type == group.current.profile.groupDataExtension ? Extension(type: $0.type, data: bytes) : $0
            }
            return try group.commit(request, at: view.now, isFollowed: false, using: &random).event
        }
        let depth =
            self == .backDateRename ? Int.random(in: 1...max(1, min(maximumDepth, 5)), using: &random) : 0
        guard let state = group.state(depth) else { throw MarmotError(.notFound, "no epoch is that far back") }
        request.extensions = state.extensions(with: self.change(state.data, of: state, view, &random))
        let time = depth == 0 ? view.now : (group.endTime(depth) ?? view.now) - 1
        return try group.commit(
            request, depth: depth, at: time, isFollowed: self != .removeAdmins, using: &random
        ).event
    }

    private func change(
        _ data: GroupData, of group: MarmotGroup, _ view: HostileView, _ random: inout SeededGenerator
    ) -> GroupData {
        var data = data
        let members = group.members
        switch self {
        case .claimID: data.nostrGroupID = view.quietID
        case .renewID: data.nostrGroupID = .random(using: &random)
        case .floodRelays:
            // A group without an honest relay is lost.
            let flood = (0..<Int.random(in: 20...150, using: &random)).compactMap { number in
                try? RelayURL("wss://flood\(number).example")
            }
            data.relays = view.relays + flood
        case .floodAdmins:
            data.admins += (0..<Int.random(in: 50...150, using: &random)).map { _ in
                KeyPair.generate(using: &random).publicKey
            }
        case .demote: data.admins = [group.account]
        case .promote: data.admins = members.filter { _ in Bool.random(using: &random) } + [group.account]
        case .bloatData:
            data.name = String(repeating: "\u{202e}\u{1b}[2J", count: 400)
            data.description = String(repeating: "d", count: 20_000)
        case .setEndlessTimer: data.disappearingSeconds = [.max, 1 << 63].randomElement(using: &random)
        case .removeAdmins: data.admins = []
        default: data.name = "hostile \(Int.random(in: 0..<1000, using: &random))"
        }
        return data
    }

    // MARK: Invitations

    private func add(_ account: inout HostileAccount, _ id: GroupID, _ view: HostileView) throws -> [Event] {
        let members = account.groups[id]?.current.members ?? []
        guard let victim = view.victims.first(where: { !members.contains($0) }) else {
            throw MarmotError(.notFound, "no member was removed")
        }
        let invitee = try view.keyPackage(of: victim)
        var welcome: [UInt8]?
        let events = try account.act(in: id) { group, random in
            var request = CommitRequest()
            request.adding = [invitee.keyPackage]
            let commit = try group.commit(request, at: view.now, isFollowed: true, using: &random)
            welcome = commit.welcome
            return [commit.event]
        }
        guard let welcome else { return events }
        return events + [try Self.wrap(welcome, for: invitee, by: &account, view)]
    }

    /// A malicious group of the adversary, which harms its joiners.
    private func invite(_ account: inout HostileAccount, _ id: GroupID, _ view: HostileView) throws -> [Event] {
        guard let victim = view.victims.randomElement(using: &account.random) else {
            throw MarmotError(.notFound, "no member can be lured away now")
        }
        let known = account.groups[id]?.current
        let edges: [Epoch] = [
            .highestJoinable, .highestJoinable.later(by: 1), Epoch(rawValue: .max - 4), .max,
        ]
        let epoch: Epoch
        switch self {
        case .inviteToEdge: epoch = edges.randomElement(using: &account.random) ?? .max
        case .inviteToRival: epoch = (known?.epoch ?? 1).later(by: Int.random(in: 0...20, using: &account.random))
        default: epoch = 2
        }
        let (group, wrap) = try Self.found(
            self == .inviteToRival ? id : nil, at: epoch,
            routingID: self == .inviteToEdge ? .random(using: &account.random) : view.quietID,
            inviting: try view.keyPackage(of: victim), by: &account, view)
        // Messages of the rival state have the same group id, and so the same text, as those of the real one.
        if self != .inviteToRival { account.add(group) }
        var rival = HostileGroup(group)
        let message = try rival.seal(
            account.rumor(in: group.groupID, isAdmin: true, createdAt: view.now).rumorJSON(), at: view.now,
            using: &account.random)
        return [wrap, message]
    }

    /// A group of two: this account and an invitee.
    static func found(
        _ groupID: GroupID?, at epoch: Epoch, routingID: Bytes32, inviting invitee: Invitee,
        by account: inout HostileAccount, _ view: HostileView
    ) throws -> (group: MarmotGroup, wrap: Event) {
        let data = GroupData(
            nostrGroupID: routingID, name: "trap", description: "", admins: [account.keys.publicKey],
            relays: view.relays)
        var (group, _) = try MarmotGroup.create(
            data, founder: account.keys.publicKey, inviting: [], client: "hostile", now: view.now, groupID: groupID,
            using: &account.random)
        group.move(to: epoch.earlier(by: 1))
        var trap = HostileGroup(group)
        var request = CommitRequest()
        request.adding = [invitee.keyPackage]
        let commit = try trap.commit(request, at: view.now, isFollowed: true, using: &account.random)
        let wrap = try Self.wrap(commit.welcome ?? [], for: invitee, by: &account, view)
        return (trap.current, wrap)
    }

    private static func wrap(
        _ welcome: [UInt8], for invitee: Invitee, by account: inout HostileAccount, _ view: HostileView
    ) throws -> Event {
        let rumor = WelcomeEvents.rumor(
            welcome, keyPackageEvent: invitee.event, relays: view.relays, client: "hostile",
            from: account.keys.publicKey, now: view.now)
        return try GiftWrap.wrap(
            rumor, from: account.keys, to: invitee.identity, now: view.now, using: &account.random)
    }
}
