public import TLSCodec

// enum { invalid(0), update(1), remove(2), (255) } AppDataUpdateOperation;
//
// struct {
//     ComponentID component_id;
//     AppDataUpdateOperation op;
//     select (AppDataUpdate.op) {
//         case update: opaque update<V>;
//         case remove: struct{};
//     };
// } AppDataUpdate;

/// Proposed change of one component's data in the GroupContext (MLS extensions draft §4.7).
public struct AppDataUpdate: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Change of a component's data.
    public enum Operation: Hashable, Sendable {
        /// Replaces the data. The draft lets the component interpret the value; here it is the complete new data.
        case update([UInt8])
        /// Removes the component's entry.
        case remove
    }

    /// Component whose data changes.
    public let component: ComponentID
    /// The change.
    public let operation: Operation

    /// Creates a change of a component's data.
    public init(_ component: ComponentID, _ operation: Operation) {
        self.component = component
        self.operation = operation
    }

    /// Decodes the fields in wire order; refuses operations other than update (1) and remove (2).
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.component = try ComponentID(from: &reader)
        let start = reader.offset
        switch try reader.readUInt8() {
        case 1: self.operation = .update(try reader.readOpaque())
        case 2: self.operation = .remove
        // X4.7-1: The operation is update or remove.
        case let other:
            throw TLSCodecError(.invalidValue, offset: start, "AppDataUpdate operation \(other) is not 1 or 2")
        }
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        self.component.encode(to: &writer)
        switch self.operation {
        case .update(let data):
            writer.write(UInt8(1))
            writer.writeOpaque(data)
        case .remove: writer.write(UInt8(2))
        }
    }
}
