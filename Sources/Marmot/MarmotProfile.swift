import MLS

/// Protocol generation of a group, which hides the differences between generations.
///
/// So far there is one: MIP-00 to MIP-05 as implemented by MDK 0.7 and 0.8 and by Pika. Group data, outer encryption,
/// key package events and the race policy depend on it; MLS does not.
public enum MarmotProfile: Sendable, Hashable {
    /// MIP-00 to MIP-05.
    case mip

    /// The only cipher suite (MIP-00).
    var cipherSuite: CipherSuite { .x25519AES128GCM }
    /// The GroupContext extension with Marmot's group data (MIP-01).
    var groupDataExtension: Extension.ExtensionType { .init(rawValue: 0xF2EE) }
    /// The proposal type of a SelfRemove, which newer clients support.
    var selfRemoveProposal: UInt16 { 0x000A }

    /// Seconds by which a group event's time may be ahead of the clock (MIP-03).
    var maximumFuture: Int64 { 300 }
    /// Seconds by which a group event's time may be behind the clock (MIP-03).
    var maximumAge: Int64 { 3_888_000 }
    /// Number of past epochs whose events can still be opened.
    public var pastEpochs: Int { 5 }

    /// Derives the exporter key of the outer encryption in an epoch (MIP-03).
    func outerKey(_ group: MLSGroup) -> Secret {
        group.export(label: "marmot", context: Array("group-event".utf8), length: 32)
    }

    /// Returns the capabilities of a leaf, each list ending in one GREASE value (MIP-00, RFC 9420 §13.5).
    func capabilities(using rng: inout some RandomNumberGenerator) -> Capabilities {
        func grease() -> UInt16 { Grease.values[Int.random(in: 0..<Grease.values.count, using: &rng)] }
        return Capabilities(
            versions: [1], cipherSuites: [self.cipherSuite.rawValue, grease()],
            extensions: [Extension.ExtensionType.lastResort.rawValue, self.groupDataExtension.rawValue, grease()],
            proposals: [self.selfRemoveProposal, grease()], credentials: [1, grease()])
    }

    /// MDK's configuration (docs/protocol/marmot.md §5.6), except for the out-of-order tolerance, which is 100 in MDK.
    ///
    /// Relays sort stored events by second and within a second by id: if a member sends more than 100 messages in one
    /// second, members who were offline would lose some of them. Keys are kept only for gaps.
    var groupConfiguration: GroupConfiguration {
        GroupConfiguration(
            outOfOrderTolerance: 1000, maximumForwardDistance: 1000, maximumPastEpochs: self.pastEpochs, paddingSize: 0)
    }
}
