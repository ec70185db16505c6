public import TLSCodec

// struct {
//     ComponentData component_data<V>;
// } AppDataDictionary;

/// Data of application components in a GroupContext, a leaf or a key package: the content of the extension
/// `app_data_dictionary` (MLS extensions draft §4.6).
public struct AppDataDictionary: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The entries, in ascending order of their ids; each id occurs once.
    public private(set) var entries: [ComponentData]

    /// Creates a dictionary with these entries.
    public init(_ entries: [ComponentID: [UInt8]] = [:]) {
        self.entries = entries.sorted { $0.key < $1.key }.map { ComponentData($0.key, $0.value) }
    }

    /// Data of a component; assigning nil removes the entry.
    public subscript(component: ComponentID) -> [UInt8]? {
        get { self.entries.first { $0.component == component }?.data }
        set {
            let position = self.entries.firstIndex { $0.component >= component } ?? self.entries.endIndex
            let isPresent = position < self.entries.endIndex && self.entries[position].component == component
            let entry = newValue.map { [ComponentData(component, $0)] } ?? []
            self.entries.replaceSubrange(position..<(isPresent ? position + 1 : position), with: entry)
        }
    }

    /// The data of all components, by id.
    var values: [ComponentID: [UInt8]] {
        Dictionary(self.entries.map { ($0.component, $0.data) }) { first, _ in first }
    }

    /// Decodes the entries; refuses ids that do not ascend, or occur twice.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let start = reader.offset
        self.entries = try reader.readVector(of: ComponentData.self)
        // X4.6-1: The entries are sorted by id, and each id occurs once.
        try self.entries.requireAscendingIDs(offset: start)
    }

    /// Encodes the entries in ascending order.
    public func encode(to writer: inout TLSWriter) {
        writer.writeVector(self.entries)
    }

    /// The extension that carries this dictionary.
    public var asExtension: Extension { Extension(type: .appDataDictionary, data: self.tlsEncoded()) }

    /// Reads the dictionary from `extensions`; nil if absent.
    public init?(in extensions: [Extension]) throws(MLSError) {
        guard let data = extensions.data(of: .appDataDictionary) else { return nil }
        do { try self.init(tlsEncoded: data) } catch { throw MLSError(decoding: "app_data_dictionary", error) }
    }

    /// Returns the list of components that is the data of `component`, such as ``ComponentID/appComponents``; nil if
    /// the entry is absent.
    public func list(of component: ComponentID) throws(MLSError) -> ComponentsList? {
        guard let data = self[component] else { return nil }
        do { return try ComponentsList(tlsEncoded: data) } catch {
            throw MLSError(decoding: "component \(component)", error)
        }
    }
}
