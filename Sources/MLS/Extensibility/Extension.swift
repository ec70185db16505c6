public import TLSCodec

// struct {
//     ExtensionType extension_type;
//     opaque extension_data<V>;
// } Extension;

/// Typed data in a leaf, key package, GroupContext or GroupInfo (RFC 9420 §13.4).
public struct Extension: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Registered or private extension number (RFC 9420 §17.3).
    public struct ExtensionType: RawRepresentable, Hashable, Sendable {
        /// Number of the type on the wire.
        public let rawValue: UInt16

        /// Creates a type with any number.
        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// `application_id`: an opaque identifier of the client in its leaf (RFC 9420 §5.3.3).
        public static let applicationID = ExtensionType(rawValue: 1)
        /// `ratchet_tree`: the tree in a GroupInfo (RFC 9420 §12.4.3.3).
        public static let ratchetTree = ExtensionType(rawValue: 2)
        /// `required_capabilities`: capabilities that every member must have, in the GroupContext (RFC 9420 §11.1).
        public static let requiredCapabilities = ExtensionType(rawValue: 3)
        /// `external_pub`: the public key for external commits, in a GroupInfo (RFC 9420 §12.4.3.2).
        public static let externalPub = ExtensionType(rawValue: 4)
        /// `external_senders`: senders outside the group that may propose, in the GroupContext (RFC 9420 §12.1.8.1).
        public static let externalSenders = ExtensionType(rawValue: 5)
        /// `app_data_dictionary`: data of application components, in the GroupContext, a leaf or a key package (MLS
        /// extensions draft §4.6).
        public static let appDataDictionary = ExtensionType(rawValue: 6)
        /// Marks a key package that may be used more than once, in an early MLS extensions draft; later drafts use
        /// ``ComponentID/lastResortKeyPackage``.
        public static let lastResort = ExtensionType(rawValue: 0x000A)

        /// Whether the type is one of 1 to 5, which every client supports without listing them (RFC 9420 §7.2).
        var isDefault: Bool { (1...5).contains(self.rawValue) }
    }

    /// Type that determines the format of ``data``.
    public var type: ExtensionType
    /// The opaque `extension_data`, not parsed.
    public var data: [UInt8]

    /// Creates an extension from its type and encoded data.
    public init(type: ExtensionType, data: [UInt8]) {
        self.type = type
        self.data = data
    }

    /// Decodes the fields in wire order; accepts any type.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.type = ExtensionType(rawValue: try reader.readUInt16())
        self.data = try reader.readOpaque()
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        writer.write(self.type.rawValue)
        writer.writeOpaque(self.data)
    }
}

extension [Extension] {
    /// Returns the data of the first extension of `type`.
    public func data(of type: Extension.ExtensionType) -> [UInt8]? {
        self.first { $0.type == type }?.data
    }

    /// Whether two extensions have the same type, which RFC 9420 §13.4 forbids.
    var hasDuplicates: Bool {
        var seen: Set<Extension.ExtensionType> = []
        return self.contains { !seen.insert($0.type).inserted }
    }
}
