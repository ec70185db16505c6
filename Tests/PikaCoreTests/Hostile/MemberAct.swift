import BotTesting
import Nostr
import TLSCodec

@testable import MLS
@testable import Marmot

/// Acts of a hostile member; none of them requires the admin role.
enum MemberAct: String, CaseIterable {
    case speak, renewKeys, backDate, postDate, race, overreach, impersonate, bloat, misdate
    case propose, repeatRumor, damage, skipKeys, forgeEpoch, forgeKey, leave

    /// Whether it requires members in the same epoch: see ``HostileRun``.
    var needsLevelGroup: Bool { self == .backDate }

    /// The events to publish, in their order.
    ///
    /// - Parameter maximumDepth: the number of epochs that a commit may go back.
    func perform(
        by account: inout HostileAccount, in id: GroupID, _ view: HostileView, maximumDepth: Int
    ) throws -> [Event] {
        switch self {
        case .speak, .impersonate, .bloat, .misdate, .repeatRumor: try self.sendMessages(&account, id, view)
        case .renewKeys, .backDate, .postDate, .race, .overreach:
            try account.act(in: id) { group, random in
                try self.commit(&group, view, maximumDepth: maximumDepth, &random)
            }
        case .propose, .leave:
            try account.act(in: id) { group, random in try self.propose(&group, view, &random) }
        case .damage, .skipKeys, .forgeEpoch, .forgeKey:
            try account.act(in: id) { group, random in try self.forge(&group, view, &random) }
        }
    }

    // MARK: Messages

    private func sendMessages(_ account: inout HostileAccount, _ id: GroupID, _ view: HostileView) throws -> [Event] {
        var rumor = account.rumor(in: id, createdAt: view.now)
        var time = view.now
        switch self {
        case .impersonate: rumor.pubkey = view.victims.randomElement(using: &account.random) ?? rumor.pubkey
        case .bloat:
            let sizes = [20_000, ApplicationMessages.maximumBytes, ApplicationMessages.maximumBytes + 1]
            rumor = account.rumor(
                in: id, createdAt: view.now, padding: sizes.randomElement(using: &account.random) ?? 0)
        case .misdate:
            let edges: [UnixTime] = [
                .distantPast, -1, 0, view.now - 3_888_001, view.now + 301, UnixTime(1 << 53), .distantFuture,
            ]
            rumor.createdAt = edges.randomElement(using: &account.random) ?? 0
            if Bool.random(using: &account.random) { time = edges.randomElement(using: &account.random) ?? 0 }
        default: break
        }
        let copies = self == .repeatRumor ? 3 : 1
        return try account.act(in: id) { group, random in
            try (0..<copies).map { _ in try group.seal(rumor.rumorJSON(), at: time, using: &random) }
        }
    }

    // MARK: Commits

    private func commit(
        _ group: inout HostileGroup, _ view: HostileView, maximumDepth: Int, _ random: inout SeededGenerator
    ) throws -> [Event] {
        switch self {
        case .backDate:
            let depth = Int.random(in: 1...max(1, maximumDepth), using: &random)
            guard let time = group.endTime(depth) else { throw MarmotError(.notFound, "no epoch is that far back") }
            // Members that read it hours later must still accept it within 45 days (MIP-03), or only they refuse it.
            let leads: [Int64] = [1, 60, 86_400, 3_000_000]
            let lead = leads.randomElement(using: &random) ?? 1
            return [
                try group.commit(
                    CommitRequest(), depth: depth, at: time - lead,
                    isFollowed: depth <= MarmotProfile.mip.pastEpochs, using: &random
                ).event
            ]
        case .postDate:
            let isDue = Bool.random(using: &random)
            return [
                try group.commit(
                    CommitRequest(), at: view.now + (isDue ? Int64.random(in: 200...300, using: &random) : 1 << 40),
                    isFollowed: isDue, using: &random
                ).event
            ]
        case .race:
            var other = group
            let late = try other.commit(CommitRequest(), at: view.now, isFollowed: false, using: &random).event
            let early = try group.commit(CommitRequest(), at: view.now - 1, isFollowed: true, using: &random).event
            return [late, early].shuffled(using: &random)
        case .overreach: return [try self.overreach(&group, view, &random)]
        default: return [try group.commit(CommitRequest(), at: view.now, isFollowed: true, using: &random).event]
        }
    }

    /// A commit that requires the admin role, or is never allowed.
    private func overreach(
        _ group: inout HostileGroup, _ view: HostileView, _ random: inout SeededGenerator
    ) throws -> Event {
        guard !group.current.isAdmin else { throw MarmotError(.incompatible, "an admin may do all of this") }
        var request = CommitRequest()
        let others = group.current.mls.members.map(\.index).filter { $0 != group.current.mls.ownLeafIndex }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: request.removing = others.suffix(Int.random(in: 1...2, using: &random))
        case 1:
            var data = group.current.data
            data.admins = [group.current.account]
            request.extensions = group.current.extensions(with: data)
        case 2:
            var data = group.current.data
            data.nostrGroupID = view.quietID
            request.extensions = group.current.extensions(with: data)
        default: request.preSharedKeys = []
        }
        if request.removing.isEmpty, request.extensions == nil { request.removing = others.prefix(1).map { $0 } }
        return try group.commit(request, at: view.now, isFollowed: false, using: &random).event
    }

    // MARK: Proposals

    private func propose(
        _ group: inout HostileGroup, _ view: HostileView, _ random: inout SeededGenerator
    ) throws -> [Event] {
        if self == .leave {
            return [try group.withCurrent { try $0.leave(now: view.now, using: &random) }]
        }
        let count = [1, 3, MarmotGroup.maximumProposals + 4].randomElement(using: &random) ?? 1
        let format = [WireFormat.publicMessage, .privateMessage].randomElement(using: &random) ?? .publicMessage
        var messages: [[UInt8]] = []
        try group.withCurrent { group in
            let others = group.mls.members.map(\.index).filter { $0 != group.mls.ownLeafIndex }
            for number in 0..<count {
                switch number % 3 {
                case 0: messages.append(try group.mls.proposeUpdate(wireFormat: format, using: &random).message)
                case 1:
                    let victim = others.randomElement(using: &random) ?? group.mls.ownLeafIndex
                    messages.append(try group.mls.propose(.remove(victim), wireFormat: format, using: &random).message)
                default:
                    var data = group.data
                    data.name = "proposed"
                    let change = Proposal.groupContextExtensions(group.extensions(with: data))
                    messages.append(try group.mls.propose(change, wireFormat: format, using: &random).message)
                }
            }
            group.mls.dropPendingProposals { _ in true }
        }
        // The first message is repeated in another event.
        return try (messages + messages.prefix(1)).map { try group.wrap($0, at: view.now, using: &random) }
    }

    // MARK: Forgeries

    private func forge(
        _ group: inout HostileGroup, _ view: HostileView, _ random: inout SeededGenerator
    ) throws -> [Event] {
        let bytes = Array("forged".utf8)
        switch self {
        case .skipKeys:
            // Usually a gap that members bridge; rarely one at the edge of their limit.
            let isFar = Int.random(in: 0..<8, using: &random) == 0
            let gap = isFar ? [1000, 1001].randomElement(using: &random) ?? 1000 : 20
            try group.withCurrent { group in
                for _ in 0..<gap {
                    let change = try group.mls.messages.secretTree.nextKey(of: group.mls.ownLeafIndex, .application)
                        .change
                    group.mls.apply(change, epoch: group.mls.epoch)
                }
            }
            return [try group.seal(bytes, at: view.now, using: &random)]
        case .damage:
            let message = try group.withCurrent { try $0.mls.protect(bytes, using: &random) }
            return try (0..<4).map { _ in
                var message = message
                let position = Int.random(in: 0..<message.count, using: &random)
                if Bool.random(using: &random) { message.removeSubrange(position...) } else { message[position] ^= 1 }
                return try group.wrap(message, at: view.now, using: &random)
            }
        case .forgeEpoch:
            let edges: [Epoch] = [0, group.current.epoch.later(by: 1), .highestJoinable, .max]
            let mls = group.current.mls
            let content = FramedContent(
                groupID: mls.groupID, epoch: edges.randomElement(using: &random) ?? .max,
                sender: .member(mls.ownLeafIndex), authenticatedData: [], body: .proposal(.selfRemove))
            let signed = try mls.sign(content, .publicMessage)
            let message = MLSMessage.publicMessage(
                PublicMessage(signed, mls.cipherSuite, membershipKey: mls.secrets.membership, context: mls.contextBytes)
            )
            return [try group.wrap(message.tlsEncoded(), at: view.now, using: &random)]
        default:
            let mls = group.current.mls
            let (_, key, _) = try mls.messages.secretTree.nextKey(of: mls.ownLeafIndex, .application)
            let victim = mls.members.map(\.index).randomElement(using: &random) ?? mls.ownLeafIndex
            let generations: [UInt32] = [0, 5, .max]
            let generation = generations.randomElement(using: &random) ?? 0
            let message = try ContentEncryption.seal(
                try mls.sign(mls.frame(.application(bytes), []), .privateMessage), mls.cipherSuite, key: key,
                generation: generation, leafIndex: victim, senderDataSecret: mls.secrets.senderData, padding: 0,
                using: &random)
            return [try group.wrap(MLSMessage.privateMessage(message).tlsEncoded(), at: view.now, using: &random)]
        }
    }
}
