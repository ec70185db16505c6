import TLSCodec

/// One member's view of a group, as a value.
///
/// A commit produces the next value and leaves this one unchanged. Copies share storage; mutating a copy copies only
/// what changes.
public struct MLSGroup: Sendable {
    /// GroupContext shared by all members of this epoch.
    public internal(set) var context: GroupContext
    /// The encoded ``context``.
    var contextBytes: [UInt8]
    var tree: RatchetTree
    var own: PrivateTree
    var signatureKey: SignaturePrivateKey
    var secrets: EpochSecrets
    var confirmationTag: [UInt8]
    var interimTranscriptHash: [UInt8]
    /// Message secrets of the current epoch.
    var messages: EpochMessages
    /// Message secrets of past epochs, newest first.
    var past: [EpochMessages]
    /// Resumption PSKs of past epochs (RFC 9420 §8.6), newest first; kept for as many epochs as message secrets.
    var pastResumptionSecrets: [(epoch: Epoch, secret: Secret)]
    /// Uncommitted proposals of this epoch, in order of arrival.
    var proposals: [CachedProposal] = []
    /// Private keys for this member's own uncommitted Update proposals.
    var pendingLeafKeys: [PendingLeafKeys] = []
    /// Limits and padding of this member; stored with the group and changeable at any time.
    public var configuration: GroupConfiguration {
        didSet { self.note([.core]) }
    }
    /// Whether the last commit was a ReInit, after which nothing may be sent in this group (RFC 9420 §12.4.2).
    public internal(set) var isReinitialized = false
    /// Records that changed since the group was last stored.
    var changedRecords: Set<GroupRecord> = []

    /// Proposal received or sent in this epoch.
    struct CachedProposal: Sendable {
        let reference: [UInt8]
        let sender: LeafIndex
        let proposal: Proposal
    }

    /// Private keys of a leaf that this member proposed in an Update.
    struct PendingLeafKeys: Sendable {
        let encryptionKey: HPKEPrivateKey
        let signatureKey: SignaturePrivateKey
    }

    /// Cipher suite of the group; it never changes.
    public var cipherSuite: CipherSuite { self.context.cipherSuite }
    /// MLS group id (RFC 9420 §8.1); it never changes.
    public var groupID: GroupID { self.context.groupID }
    /// Current epoch.
    public var epoch: Epoch { self.context.epoch }
    /// GroupContext extensions of the current epoch.
    public var extensions: [Extension] { self.context.extensions }
    /// This member's leaf index; it never changes.
    public var ownLeafIndex: LeafIndex { self.own.leafIndex }
    /// Value that differs between members who do not share this epoch (RFC 9420 §8.7).
    public var epochAuthenticator: Secret { self.secrets.authenticator }

    /// The members in leaf order.
    public var members: [(index: LeafIndex, leaf: LeafNode)] { self.tree.members }

    /// Returns a member's leaf; nil if the leaf is blank or outside the tree.
    public func member(_ index: LeafIndex) -> LeafNode? { self.tree.leaf(index) }

    /// This member's own leaf.
    public var ownLeaf: LeafNode {
        guard let leaf = self.tree.leaf(self.own.leafIndex) else {
            preconditionFailure("a group value always holds its own member's leaf")
        }
        return leaf
    }

    /// The ratchet tree, encoded as in the `ratchet_tree` extension (RFC 9420 §12.4.3.3).
    public var encodedRatchetTree: [UInt8] { self.tree.encoded() }

    /// Runs MLS-Exporter (RFC 9420 §8.5): returns `length` bytes, at most 255 digests, bound to this epoch, label and
    /// context.
    public func export(label: String, context: [UInt8], length: Int) -> Secret {
        self.cipherSuite.export(self.secrets.exporter, label: Array(label.utf8), context: context, length: length)
    }

    /// Throws `MLSError.Code.unsupported` once the group has been reinitialised.
    func requireActive() throws(MLSError) {
        // V12.4.2-12: After a ReInit nothing is sent.
        guard !self.isReinitialized else {
            throw MLSError(.unsupported, "the group was reinitialised and accepts no more messages (RFC 9420 §12.4.2)")
        }
    }

    /// The pending proposals of this epoch, in order of arrival.
    public var pendingProposals: [ReceivedProposal] {
        self.proposals.map { ReceivedProposal(reference: $0.reference, sender: $0.sender, proposal: $0.proposal) }
    }

    /// Drops proposals that this member will not commit.
    public mutating func dropPendingProposals(where isDropped: (ReceivedProposal) -> Bool) {
        self.proposals.removeAll {
            isDropped(ReceivedProposal(reference: $0.reference, sender: $0.sender, proposal: $0.proposal))
        }
        self.note([.core])
    }
}
