public import TLSCodec

// struct {
//     ComponentID component_id;
//     opaque data<V>;
// } ComponentData;
//
// SafeAADItem and AppEphemeral have the same fields.

/// Data of one application component (MLS extensions draft §4.6).
public struct ComponentData: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Component that determines the format of ``data``.
    public let component: ComponentID
    /// The component's data, not parsed.
    public let data: [UInt8]

    /// Creates data of a component.
    public init(_ component: ComponentID, _ data: [UInt8]) {
        self.component = component
        self.data = data
    }

    /// Decodes the fields in wire order.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.component = try ComponentID(from: &reader)
        self.data = try reader.readOpaque()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        self.component.encode(to: &writer)
        writer.writeOpaque(self.data)
    }
}

extension [ComponentData] {
    /// Throws unless the component ids ascend, each occurring once; `offset` is where the list starts.
    func requireAscendingIDs(offset: Int) throws(TLSCodecError) {
        for (entry, next) in zip(self, self.dropFirst()) where entry.component >= next.component {
            throw TLSCodecError(
                .invalidValue, offset: offset,
                "component \(next.component) follows component \(entry.component), but ids must ascend")
        }
    }
}
