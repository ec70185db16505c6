public import TLSCodec

// struct {
//     ProtocolVersion version = mls10;
//     WireFormat wire_format;
//     select (MLSMessage.wire_format) {
//         case mls_public_message:  PublicMessage public_message;
//         case mls_private_message: PrivateMessage private_message;
//         case mls_welcome:         Welcome welcome;
//         case mls_group_info:      GroupInfo group_info;
//         case mls_key_package:     KeyPackage key_package;
//     };
// } MLSMessage;

/// Any message of the protocol (RFC 9420 §6).
public enum MLSMessage: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// A signed, unencrypted message within a group.
    case publicMessage(PublicMessage)
    /// An encrypted message within a group.
    case privateMessage(PrivateMessage)
    /// An invitation for new members.
    case welcome(Welcome)
    /// A signed description of a group.
    case groupInfo(GroupInfo)
    /// A client's published key package.
    case keyPackage(KeyPackage)

    /// Decodes a message that fills `bytes`.
    ///
    /// - Throws: `MLSError.Code.unsupportedVersion` or `MLSError.Code.malformed`.
    public init(_ bytes: [UInt8]) throws(MLSError) {
        // V6-1: The protocol version is mls10.
        if bytes.count >= 2, bytes[0] != 0 || bytes[1] != ProtocolVersion.mls10 {
            throw MLSError(.unsupportedVersion, "the message's version must be mls10 (RFC 9420 §6)")
        }
        do { try self.init(tlsEncoded: bytes) } catch { throw MLSError(decoding: "MLSMessage", error) }
    }

    /// Decodes a message; refuses versions other than mls10 and unknown wire formats.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        try ProtocolVersion.read(from: &reader)
        let start = reader.offset
        let number = try reader.readUInt16()
        switch WireFormat(rawValue: number) {
        case .publicMessage: self = .publicMessage(try PublicMessage(from: &reader))
        case .privateMessage: self = .privateMessage(try PrivateMessage(from: &reader))
        case .welcome: self = .welcome(try Welcome(from: &reader))
        case .groupInfo: self = .groupInfo(try GroupInfo(from: &reader))
        case .keyPackage: self = .keyPackage(try KeyPackage(from: &reader))
        case nil: throw TLSCodecError(.invalidValue, offset: start, "wire format \(number) is not 1 to 5")
        }
    }

    /// Encodes the version, the wire format and the message.
    public func encode(to writer: inout TLSWriter) {
        writer.write(ProtocolVersion.mls10)
        writer.write(self.wireFormat.rawValue)
        switch self {
        case .publicMessage(let message): message.encode(to: &writer)
        case .privateMessage(let message): message.encode(to: &writer)
        case .welcome(let welcome): welcome.encode(to: &writer)
        case .groupInfo(let groupInfo): groupInfo.encode(to: &writer)
        case .keyPackage(let keyPackage): keyPackage.encode(to: &writer)
        }
    }

    /// Wire format of this message.
    public var wireFormat: WireFormat {
        switch self {
        case .publicMessage: .publicMessage
        case .privateMessage: .privateMessage
        case .welcome: .welcome
        case .groupInfo: .groupInfo
        case .keyPackage: .keyPackage
        }
    }
}
