/// Rules beyond RFC 9420 that all members of a group share, by agreement of the application; never on the wire.
///
/// Members with different rules accept different commits, and end up on different branches. The default adds no rule.
public struct GroupRules: Hashable, Sendable {
    /// Wire format of proposals and commits.
    public enum Handshakes: UInt8, Hashable, Sendable {
        /// Sent as private messages unless stated otherwise, and accepted in both formats.
        case any = 0
        /// Sent and accepted as public messages only.
        case publicOnly = 1
    }

    /// Departures from the rules for lists of proposals that other implementations accept. None of them is sent.
    public struct Tolerances: OptionSet, Hashable, Sendable {
        /// One bit for each departure.
        public let rawValue: UInt8

        /// Creates a set from its bits.
        public init(rawValue: UInt8) {
            self.rawValue = rawValue
        }

        /// The same Remove or GroupContextExtensions twice inside a commit counts once.
        public static let repeatedProposals = Tolerances(rawValue: 1 << 0)
        /// A SelfRemove inside the leaver's own commit removes nobody: with its path, the commit is a self-update. The
        /// application may still refuse it, by ``CommitChanges/Proposed/isInline``.
        public static let inlineSelfRemoves = Tolerances(rawValue: 1 << 1)

        static let all: Tolerances = [.repeatedProposals, .inlineSelfRemoves]
    }

    /// Types of RFC 9420 (1 to 7), and SelfRemove.
    public static let defaultProposals: Set<UInt16> = [1, 2, 3, 4, 5, 6, 7, 0x000A]

    /// Wire format of proposals and commits, in both directions.
    public var handshakes: Handshakes
    /// Types of proposals that may be sent, received and committed. Other types are refused, alone and in commits, even
    /// if every member supports them.
    public var proposals: Set<UInt16>
    /// Whether application components are negotiated (MLS extensions draft §5): every leaf lists the components that
    /// the GroupContext requires, dictionaries of leaves and key packages decode, and a GroupInfo has none.
    public var requiresComponents: Bool
    /// Whether this member keeps its signature key as long as it is in the group: requests for another one are refused.
    public var keepsSignatureKey: Bool
    /// Accepted departures from the rules for lists of proposals.
    public var tolerances: Tolerances

    /// Creates rules; the defaults are RFC 9420's.
    public init(
        handshakes: Handshakes = .any, proposals: Set<UInt16> = GroupRules.defaultProposals,
        requiresComponents: Bool = false, keepsSignatureKey: Bool = false, tolerances: Tolerances = []
    ) {
        self.handshakes = handshakes
        self.proposals = proposals
        self.requiresComponents = requiresComponents
        self.keepsSignatureKey = keepsSignatureKey
        self.tolerances = tolerances
    }

    /// Throws unless the group admits proposals of this type.
    func requireAdmitted(_ proposal: Proposal) throws(MLSError) {
        // V12.2-13: The group's rules admit the types of all proposals.
        guard self.proposals.contains(proposal.type) else {
            throw MLSError(.unsupportedProposal, "the group's rules exclude proposals of type \(proposal.type)")
        }
    }

    /// Throws unless the group admits proposals and commits of this wire format.
    func requireAdmitted(_ wireFormat: WireFormat) throws(MLSError) {
        // V6-5: Proposals and commits have the wire format of the group's policy.
        guard self.handshakes == .any || wireFormat == .publicMessage else {
            throw MLSError(
                .excludedWireFormat,
                "proposals and commits of this group must be public messages, by its rules (RFC 9420 §6)")
        }
    }

    /// Returns the wire format of a proposal or commit to send; `requested` is nil if the sender leaves it open.
    func wireFormat(_ requested: WireFormat?) throws(MLSError) -> WireFormat {
        let format: WireFormat = requested ?? (self.handshakes == .publicOnly ? .publicMessage : .privateMessage)
        try self.requireAdmitted(format)
        return format
    }

    /// Throws unless this member may have `new` as its signature key, after `current`.
    func requireAdmitted(_ new: SignaturePrivateKey?, after current: SignaturePrivateKey) throws(MLSError) {
        guard let new, self.keepsSignatureKey else { return }
        guard new.publicKey == current.publicKey else {
            throw MLSError(.invalidKey, "the group's rules require this member to keep its signature key")
        }
    }
}
