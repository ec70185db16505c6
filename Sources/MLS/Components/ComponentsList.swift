public import TLSCodec

// struct {
//     ComponentID component_ids<V>;
// } ComponentsList;

/// List of application components (MLS extensions draft §5): those that a leaf supports, or that a group requires.
public struct ComponentsList: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The ids in ascending order; each occurs once.
    public let components: [ComponentID]

    /// Creates a list; sorts the ids and drops repeated ones.
    public init(_ components: [ComponentID] = []) {
        self.components = Set(components).sorted()
    }

    /// Decodes a list; refuses ids that do not ascend, or occur twice.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        let components = try reader.readUInt16Vector().map(ComponentID.init(rawValue:))
        // X5-1: The ids of a list are sorted, and each occurs once.
        for (id, next) in zip(components, components.dropFirst()) where id >= next {
            throw TLSCodecError(
                .invalidValue, offset: start, "component \(next) follows component \(id), but ids must ascend")
        }
        self.components = components
    }

    /// Encodes the ids in ascending order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.components.map(\.rawValue))
    }

    /// Returns the lowest id that `other` lacks; nil if it has all of them.
    public func firstMissing(in other: ComponentsList) -> ComponentID? {
        var candidates = other.components[...]
        for id in self.components {
            candidates = candidates.drop { $0 < id }
            guard candidates.first == id else { return id }
        }
        return nil
    }
}
