public import TLSCodec

// struct {
//     SafeAADItem aad_items<V>;
// } SafeAAD;

/// Authenticated data of several application components (MLS extensions draft §4.9). All messages of a group whose
/// GroupContext has the component ``ComponentID/safeAAD`` carry one as their authenticated data, at least an empty one.
public struct SafeAAD: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The components' data, in ascending order of their ids; each id occurs once.
    public let items: [ComponentData]

    /// Creates authenticated data of these components.
    public init(_ items: [ComponentID: [UInt8]] = [:]) {
        self.items = AppDataDictionary(items).entries
    }

    /// Decodes the items; refuses ids that do not ascend, or occur twice.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        self.items = try reader.readVector(of: ComponentData.self)
        // X4.9-1: The items are sorted by id, and each id occurs once.
        try self.items.requireAscendingIDs(offset: start)
    }

    /// Encodes the items in ascending order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.items)
    }
}
