public import TLSCodec

// struct {
//     ProposalType proposal_type;
//     select (Proposal.proposal_type) {
//         case add:                      Add add;                     // KeyPackage key_package
//         case update:                   Update update;               // LeafNode leaf_node
//         case remove:                   Remove remove;               // uint32 removed
//         case psk:                      PreSharedKey psk;            // PreSharedKeyID psk
//         case reinit:                   ReInit reinit;
//         case external_init:            ExternalInit external_init;  // opaque kem_output<V>
//         case group_context_extensions: GroupContextExtensions …;    // Extension extensions<V>
//         case app_data_update:          AppDataUpdate …;             // these three: MLS extensions draft
//         case app_ephemeral:            AppEphemeral …;              // ComponentID component_id; opaque data<V>
//         case self_remove:              struct{};
//     };
// } Proposal;

/// Change that a commit can apply (RFC 9420 §12.1).
public enum Proposal: Hashable, Sendable {
    /// Adds the client of a key package (RFC 9420 §12.1.1).
    case add(KeyPackage)
    /// Replaces the sender's leaf (RFC 9420 §12.1.2).
    case update(LeafNode)
    /// Removes the member at a leaf (RFC 9420 §12.1.3).
    case remove(LeafIndex)
    /// Mixes a pre-shared key into the next epoch (RFC 9420 §12.1.4).
    case preSharedKey(PreSharedKeyID)
    /// Ends the group so that it restarts with other parameters (RFC 9420 §12.1.5).
    case reInit(ReInit)
    /// Joins by an external commit, with the KEM output for its init secret (RFC 9420 §12.1.6).
    case externalInit(kemOutput: [UInt8])
    /// Replaces the list of GroupContext extensions (RFC 9420 §12.1.7).
    case groupContextExtensions([Extension])
    /// Changes one component's data in the GroupContext, without a path (MLS extensions draft §4.7, type 0x0008).
    case appDataUpdate(AppDataUpdate)
    /// Attaches a component's data to the commit and changes nothing else (MLS extensions draft §4.8, type 0x0009).
    case appEphemeral(ComponentData)
    /// The sender leaves the group. Only the sender can propose it, and only another member can commit it, by reference
    /// (MLS extensions draft §6.3, type 0x000a).
    case selfRemove

    /// The registered type number (RFC 9420 §17.4).
    public var type: UInt16 {
        switch self {
        case .add: 1
        case .update: 2
        case .remove: 3
        case .preSharedKey: 4
        case .reInit: 5
        case .externalInit: 6
        case .groupContextExtensions: 7
        case .appDataUpdate: Self.appDataUpdateType
        case .appEphemeral: 9
        case .selfRemove: 0x000A
        }
    }

    static let appDataUpdateType: UInt16 = 8

    /// Whether every client supports the type without listing it (RFC 9420 §7.2).
    var isDefault: Bool { (1...7).contains(self.type) }

    var isReInit: Bool {
        if case .reInit = self { true } else { false }
    }

    var isAppDataUpdate: Bool {
        if case .appDataUpdate = self { true } else { false }
    }

    /// Whether a commit with this proposal needs an update path (RFC 9420 §12.4, §17.4; MLS extensions draft §7.2).
    var requiresPath: Bool {
        switch self {
        case .add, .preSharedKey, .reInit, .appDataUpdate, .appEphemeral: false
        case .update, .remove, .externalInit, .groupContextExtensions, .selfRemove: true
        }
    }
}

extension Proposal: TLSEncodable, TLSDecodable {
    /// Decodes a proposal. An unknown type is an error of code `unknownType`: proposals have no length header, so
    /// nothing after it can be read.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        switch try reader.readUInt16() {
        case 1: self = .add(try KeyPackage(from: &reader))
        case 2: self = .update(try LeafNode(from: &reader))
        case 3: self = .remove(try LeafIndex(from: &reader))
        case 4: self = .preSharedKey(try PreSharedKeyID(from: &reader))
        case 5: self = .reInit(try ReInit(from: &reader))
        case 6: self = .externalInit(kemOutput: try reader.readOpaque())
        case 7: self = .groupContextExtensions(try reader.readVector(of: Extension.self))
        case Self.appDataUpdateType: self = .appDataUpdate(try AppDataUpdate(from: &reader))
        case 9: self = .appEphemeral(try ComponentData(from: &reader))
        case 0x000A: self = .selfRemove
        // V12.2-12: A proposal of an unknown type is refused, and named as the reason.
        case let other: throw TLSCodecError(.unknownType, offset: start, "proposal type \(other) is unknown")
        }
    }

    /// Encodes the type number and the proposal's content.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.type)
        switch self {
        case .add(let keyPackage): keyPackage.encode(to: &writer)
        case .update(let leaf): leaf.encode(to: &writer)
        case .remove(let leaf): leaf.encode(to: &writer)
        case .preSharedKey(let id): id.encode(to: &writer)
        case .reInit(let reInit): reInit.encode(to: &writer)
        case .externalInit(let kemOutput): writer.writeOpaque(kemOutput)
        case .groupContextExtensions(let extensions): writer.writeVector(extensions)
        case .appDataUpdate(let update): update.encode(to: &writer)
        case .appEphemeral(let data): data.encode(to: &writer)
        case .selfRemove: break
        }
    }
}
