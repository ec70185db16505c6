import Errors
import MLS
import Marmot
import Nostr

extension CoreStep {
    /// Counts a refusal, and reports which event it concerned.
    mutating func refuse(
        _ reason: CoreReason, _ detail: String, _ event: EventID?, inner: EventID? = nil, chatID: ChatID? = nil
    ) {
        self.refuse(code: reason.rawValue, detail, event, inner: inner, chatID: chatID)
    }

    /// Counts a refusal by Marmot or MLS, with the code of their error, and reports which event it concerned.
    mutating func refuse(
        code: String, _ detail: String, _ event: EventID?, inner: EventID? = nil, chatID: ChatID? = nil
    ) {
        self.effects.append(.note(.refused(reason: code, detail: detail)))
        if let event { self.observe(.refused, code: code, detail, event, inner: inner, chatID: chatID) }
    }

    /// Reports that an event waits or was abandoned.
    mutating func observe(
        _ fate: CoreNotice.Fate, _ reason: CoreReason, _ detail: String, _ event: EventID, inner: EventID? = nil,
        chatID: ChatID? = nil
    ) {
        self.observe(fate, code: reason.rawValue, detail, event, inner: inner, chatID: chatID)
    }

    /// Reports that an event of this account could not be delivered.
    mutating func observeUndelivered(
        _ what: String, _ reason: String, _ event: EventID, inner: EventID? = nil, chatID: ChatID? = nil
    ) {
        self.observe(
            .actionFailed, code: AppCoreError.Code.notPublished.description, "\(what): \(reason)", event,
            inner: inner, chatID: chatID)
    }

    private mutating func observe(
        _ fate: CoreNotice.Fate, code: String, _ detail: String, _ event: EventID, inner: EventID?, chatID: ChatID?
    ) {
        self.effects.append(
            .observe(
                CoreNotice(
                    event: event, inner: inner, chatID: chatID, fate: fate, reason: code, detail: detail,
                    at: self.now)))
    }
}

extension CoreModel {
    /// Returns the group id in hex; nil for an unknown group.
    func chatID(of groupID: GroupID) -> ChatID? { self.groups[groupID].map { ChatID($0.groupID) } }
}

extension CoreEvent {
    /// The event's own id and its wrapper's; nil for events without an id.
    var names: (id: EventID, wrapper: EventID?)? {
        switch self.content {
        case .message(let message): (message.id, message.wrapper)
        case .commit(let commit): (commit.id, commit.id)
        case .proposal(let proposal): (proposal.id, proposal.id)
        case .call(let call): (call.id, call.wrapper)
        case .withdrawn(let message): (message.id, message.wrapper)
        case .joined, .outcome: nil
        case .feed(let item): (item.eventID, nil)
        }
    }
}

extension WaitingReason {
    var explanation: String {
        switch self {
        case .noKey: "no key of a known epoch opens it"
        case .futureEpoch: "it belongs to a future epoch"
        case .futureTime: "its time is more than 300 s ahead of this machine's clock"
        case .missingProposal: "it refers to a proposal that has not arrived"
        case .ownCommitPending: "a commit of this account waits for a relay's answer"
        case .otherCopy: "another copy of this account created it"
        }
    }
}
