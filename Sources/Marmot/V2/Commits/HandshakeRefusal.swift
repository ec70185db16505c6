import Errors
public import MLS

/// Reason why a commit or proposal does not apply to a value of a group.
public enum HandshakeRefusal: Error, Sendable, CustomStringConvertible {
    /// The message is of another epoch or branch; other values may accept it.
    case notApplicable(MLSError)
    /// The commit refers to a proposal that has not arrived.
    case missingProposal(MLSError)
    /// This leaf made the message. The value after a commit by this member is the one that was kept at its creation.
    case own
    /// MLS refuses the message.
    case invalid(MLSError)
    /// The message breaks a rule.
    case forbidden(RuleViolation)
    /// The sender has too many proposals pending in this epoch.
    case tooMany

    init(_ error: any Error) {
        guard let error = error as? MLSError else {
            self = .invalid(MLSError(.invalidCommit, "\(error)"))
            return
        }
        switch error.code {
        case .ownMessage: self = .own
        case .unknownProposal: self = .missingProposal(error)
        // Membership tag and signature are bound to the GroupContext, which differs between branches.
        case .futureEpoch, .pastEpoch, .badMembershipTag, .badSignature, .invalidSender: self = .notApplicable(error)
        default: self = .invalid(error)
        }
    }

    /// The reason in one line.
    public var description: String {
        switch self {
        case .notApplicable(let error), .missingProposal(let error), .invalid(let error): error.description
        case .own: "own_message: the message is this leaf's own"
        case .forbidden(let violation): violation.description
        case .tooMany: "too_many: a member has at most \(ComponentGroup.maximumProposals) proposals pending"
        }
    }
}
