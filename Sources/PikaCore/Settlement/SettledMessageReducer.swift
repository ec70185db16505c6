import Errors
import MLS
import Marmot
import Nostr

/// Messages of groups of the second generation: delivered ones, and the dispositions of all others.
extension CoreModel {
    /// Handles an application message of the selected history.
    mutating func receive(
        _ delivery: BranchDelivery<AuthenticatedMessage>, _ turn: SettlementTurn, _ step: inout CoreStep
    ) {
        let groupID = turn.groupID
        guard let carrier = self.carrier(of: delivery.id, turn) else { return }
        self.settlement.forgetEvent(of: delivery.id, in: groupID, &step)
        let message = delivery.message
        let payload: AppPayload
        switch message.payload {
        case .success(let found): payload = found
        case .failure(let error):
            // The message still counts as a witness of its branch.
            return step.refuse(
                code: error.code.description, error.message, carrier.id, chatID: self.chatID(of: groupID))
        }
        if let name = Self.ignoredContent(of: payload.event.kind) {
            return step.refuse(
                .ignoredKind, "kind \(payload.event.kind): \(name)", carrier.id, inner: payload.id,
                chatID: self.chatID(of: groupID))
        }
        let received = ReceivedMessage(message, payload, in: carrier.id)
        if turn.received?.message == delivery.id { self.compareClock(with: received, sentAt: carrier.createdAt, &step) }
        self.receiveMessage(
            received, message.isAdmin ? .admin : .member, of: groupID,
            at: BranchPlace(point: delivery.point.id, expiresAt: message.expiresAt), &step)
    }

    /// Hands a proposal of another member to the handlers, once: every state that judges it reports it again.
    mutating func deliver(
        _ proposal: AdmittedProposal, _ message: Bytes32, _ turn: SettlementTurn, _ step: inout CoreStep
    ) {
        let groupID = turn.groupID
        guard proposal.proposer != self.account.publicKey, let carrier = self.carrier(of: message, turn) else { return }
        let key = self.messageKey(carrier.id, in: groupID)
        guard !self.inbound.seen.contains(key) else { return }
        self.remember(key, &step)
        let role = self.role(of: proposal.proposer, inEpoch: carrier.epoch, of: groupID)
        self.deliver(
            .proposal(
                ProposalEvent(
                    id: carrier.id, sender: proposal.proposer, change: ProposalEvent.Change(proposal.change),
                    epoch: carrier.epoch.rawValue, role: role)), of: groupID, &step)
    }

    /// Names the content of an inner event of a kind that clients ignore: rows that each client writes for itself,
    /// records of features that this one lacks, and templates for signatures. Returns nil for all other kinds.
    private static func ignoredContent(of kind: Kind) -> String? {
        switch kind {
        case .agentActivity, .agentOperation: "an agent's activity or operation"
        case .groupSystem: "a system row"
        case .pushTokenRequest, .pushTokenList, .pushTokenRemoval: "a push record"
        case .accountProof, .pushTokenProof: "a template for a signature"
        default: nil
        }
    }

    /// Returns the event that carried a message.
    func carrier(of message: Bytes32, _ turn: SettlementTurn) -> CarrierEvent? {
        if let received = turn.received, received.message == message { return received.event }
        return self.settlement.event(of: message, in: turn.groupID)
    }

    /// Records the new disposition of an input, and reports it under the event's id.
    mutating func note(
        _ disposition: InputDisposition, of message: Bytes32, _ turn: SettlementTurn, _ step: inout CoreStep
    ) {
        let groupID = turn.groupID
        guard let carrier = self.carrier(of: message, turn) else { return }
        let chatID = self.chatID(of: groupID)
        let detail = self.detail(of: disposition, of: message, turn)
        switch disposition {
        case .accepted, .refused: return
        case .collected, .deferred:
            guard let reason = CoreReason(disposition) else { return }
            return step.observe(.waiting, reason, detail, carrier.id, chatID: chatID)
        case .ownEcho: return self.settleMessage(carrier.id, &step)
        case .duplicate: return step.refuse(.duplicate, detail, carrier.id, chatID: chatID)
        case .invalidated(.losingBranch):
            return step.observe(.waiting, .losingBranch, detail, carrier.id, chatID: chatID)
        case .invalidated(.otherCopy):
            step.refuse(.otherCopy, detail, carrier.id, chatID: chatID)
            self.receiveUnsentMessage(epoch: carrier.epoch, of: groupID, &step)
        case .dropped(.invalid(let refusal?)):
            step.refuse(code: refusal.reason, refusal.detail, carrier.id, chatID: chatID)
        case .dropped, .invalidated:
            if let reason = CoreReason(disposition) { step.refuse(reason, detail, carrier.id, chatID: chatID) }
        }
        // A late commit may still refer to such a proposal.
        if disposition != .dropped(.unreferenced) { self.settlement.forgetEvent(of: message, in: groupID, &step) }
    }

    /// Returns the explanation of a disposition; that of a losing branch names the rule by which the chosen one beat it.
    private func detail(of disposition: InputDisposition, of message: Bytes32, _ turn: SettlementTurn) -> String {
        switch disposition {
        case .collected: "it is decided together with the other messages of its pass"
        case .deferred(.losingBranch), .invalidated(.losingBranch):
            if let rule = turn.report?.rules[message] {
                "\(rule.rawValue): \(rule.explanation)"
            } else {
                "it is on another branch than the selected one"
            }
        case .deferred(.missingParent): "the commit before it has not arrived"
        case .deferred(.awaitingCommit): "no commit has included the proposal yet"
        case .deferred(.futureEpoch): "it belongs to a future epoch"
        case .deferred(.missingProposal): "it refers to a proposal that has not arrived"
        case .dropped(.invalid): "no known state of the group accepts it"
        case .dropped(.beyondAnchor): "it is for an epoch more than five before the current one"
        case .dropped(.beforeJoin): "it is for an epoch before this account joined"
        case .dropped(.unreferenced): "its epoch ended without a commit that includes it"
        case .dropped(.crowded), .invalidated(.crowded): "too many undecided messages compete with it"
        case .dropped(.halted): "the group accepts nothing more"
        case .invalidated(.undecryptable): "no known state of its epoch decrypts it"
        case .invalidated(.expired): "the keys of its epoch have been deleted"
        case .invalidated(.otherCopy): "another copy of this account created it"
        case .duplicate: "the same message arrived before"
        case .ownEcho, .accepted, .refused: disposition.name
        }
    }
}

/// The place of a message in the history of a group of the second generation.
struct BranchPlace: Sendable, Hashable {
    /// The id of its ``Marmot/BranchPoint``.
    let point: Bytes32
    /// The time at which it disappears, by the retention of its epoch.
    let expiresAt: UnixTime?
}

extension CoreReason {
    /// Returns the reason with the name of a disposition; nil for those that are not reported.
    init?(_ disposition: InputDisposition) { self.init(rawValue: disposition.name) }
}
