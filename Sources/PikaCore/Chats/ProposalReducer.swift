import MLS
import Marmot
import Nostr

/// The proposals that chats show: changes that wait for a commit.
extension CoreModel {
    /// The maximum number of proposals shown in a chat.
    private static let maximumProposals = 100

    /// Returns the proposals of a group's present epoch that wait for a commit.
    func waitingProposals(of group: AccountGroup) -> [AppState.WaitingProposal] {
        guard group.isActive else { return [] }
        let own = self.account.publicKey
        let all = group.waitingProposals + self.settlement.proposals(of: group.groupID)
        guard !all.isEmpty else { return [] }
        // This account's proposal stays in its state, but not in the group, after every relay has refused it.
        let isLeaving = self.intents.contains(.leave, in: group.groupID)
        var seen: Set<AppState.WaitingProposal> = []
        let shown = all.filter { ($0.proposer != own || isLeaving) && seen.insert($0).inserted }
        return Array(shown.prefix(Self.maximumProposals))
    }

    /// Shows the proposals of other members that wait in a group of the second generation.
    mutating func showProposals(_ proposals: [AdmittedProposal], of groupID: GroupID) {
        let (own, admins) = (self.account.publicKey, self.groups[second: groupID]?.tip.admins ?? [])
        // An admin has to give up its role before it can leave.
        let leavers = proposals.filter(\.isDeparture).map(\.proposer).filter { $0 != own && !admins.contains($0) }
        guard self.settlement.noteDepartures(Set(leavers), of: groupID) else { return }
        self.refreshChat(groupID)
    }
}

extension AccountGroup {
    /// The proposals that the group's MLS state keeps until the end of the epoch, in the order of their arrival. In the
    /// second generation these are this account's only: those of others wait beside the state until a commit names them.
    fileprivate var waitingProposals: [AppState.WaitingProposal] {
        let pending =
            switch self {
            case .first(let group): group.mls.pendingProposals
            case .second(let group): group.tip.mls.pendingProposals
            }
        guard !pending.isEmpty else { return [] }
        let accounts = self.identities
        return pending.compactMap { proposal -> AppState.WaitingProposal? in
            guard let proposer = accounts[proposal.sender] else { return nil }
            switch proposal.proposal {
            case .selfRemove: return AppState.WaitingProposal(proposer: proposer, change: .departure)
            case .remove(let leaf):
                guard leaf != proposal.sender else {
                    return AppState.WaitingProposal(proposer: proposer, change: .departure)
                }
                return accounts[leaf].map { AppState.WaitingProposal(proposer: proposer, change: .removal($0)) }
            case .add(let keyPackage):
                let account = try? keyPackage.leafNode.identity()
                return AppState.WaitingProposal(proposer: proposer, change: .addition(account))
            // Members of these groups propose nothing else that anyone commits.
            default: return nil
            }
        }
    }
}
