public import TLSCodec

// struct {
//     ExtensionType extension_type;
//     opaque extension_data<V>;
// } Extension;

/// Typed data in a leaf, key package, GroupContext or GroupInfo (RFC 9420 §13.4).
public struct Extension: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// Registered or private extension number (RFC 9420 §17.3).
    public struct ExtensionType: RawRepresentable, Hashable, Sendable {
        public let rawValue: UInt16

        public init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        public static let applicationID = ExtensionType(rawValue: 1)
        public static let ratchetTree = ExtensionType(rawValue: 2)
        public static let requiredCapabilities = ExtensionType(rawValue: 3)
        public static let externalPub = ExtensionType(rawValue: 4)
        public static let externalSenders = ExtensionType(rawValue: 5)
        /// Marks a key package that may be used more than once (MLS extensions draft).
        public static let lastResort = ExtensionType(rawValue: 0x000A)

        /// Whether the type is one of 1 to 5, which every client supports without listing them (RFC 9420 §7.2).
        var isDefault: Bool { (1...5).contains(self.rawValue) }
    }

    public var type: ExtensionType
    public var data: [UInt8]

    public init(type: ExtensionType, data: [UInt8]) {
        self.type = type
        self.data = data
    }

    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.type = ExtensionType(rawValue: try reader.readUInt16())
        self.data = try reader.readOpaque()
    }

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
