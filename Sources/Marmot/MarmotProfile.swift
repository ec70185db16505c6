import MLS

/// Which generation of the protocol a group speaks: what differs between them stands behind this.
///
/// There is one so far: MIP-00 to MIP-05, as MDK 0.7 and 0.8 and Pika speak it. Group data, outer encryption,
/// key-package events and the race policy ask it; MLS knows nothing of it.
public enum MarmotProfile: Sendable, Hashable {
    case mip

    /// The only cipher suite (MIP-00).
    var cipherSuite: CipherSuite { .x25519AES128GCM }
    /// The GroupContext extension with Marmot's group data (MIP-01).
    var groupDataExtension: Extension.ExtensionType { .init(rawValue: 0xF2EE) }
    /// The proposal type of a SelfRemove, which newer clients support.
    var selfRemoveProposal: UInt16 { 0x000A }

    /// How past and future a group event may be, in seconds (MIP-03).
    var maximumFuture: Int64 { 300 }
    var maximumAge: Int64 { 3_888_000 }
    /// Past epochs whose events can still be opened.
    public var pastEpochs: Int { 5 }

    /// The exporter key of the outer encryption in an epoch (MIP-03).
    func outerKey(_ group: MLSGroup) -> Secret {
        group.export(label: "marmot", context: Array("group-event".utf8), length: 32)
    }

    /// What a leaf of this profile supports, with one GREASE value at the end of each list (MIP-00, RFC 9420 §13.5).
    func capabilities(using rng: inout some RandomNumberGenerator) -> Capabilities {
        func grease() -> UInt16 { Grease.values[Int.random(in: 0..<Grease.values.count, using: &rng)] }
        return Capabilities(
            versions: [1], cipherSuites: [self.cipherSuite.rawValue, grease()],
            extensions: [Extension.ExtensionType.lastResort.rawValue, self.groupDataExtension.rawValue, grease()],
            proposals: [self.selfRemoveProposal, grease()], credentials: [1, grease()])
    }

    /// What MDK's configuration keeps (wire §5.6), but for the tolerance of disorder, which is 100 there.
    ///
    /// Stored events are sorted by second, and within one by id: a member who sends more than 100 messages in a second
    /// would lose some of them at those who were away. Keys are kept for gaps only.
    var groupConfiguration: GroupConfiguration {
        GroupConfiguration(
            outOfOrderTolerance: 1000, maximumForwardDistance: 1000, maximumPastEpochs: self.pastEpochs, paddingSize: 0)
    }
}
