public import TLSCodec

// struct {
//     FramedContent content;
//     FramedContentAuthData auth;
//     select (PublicMessage.content.sender.sender_type) {
//         case member: MAC membership_tag;
//         case external: case new_member_commit: case new_member_proposal: struct{};
//     };
// } PublicMessage;

/// Signed, unencrypted message (RFC 9420 §6.2).
public struct PublicMessage: Hashable, Sendable, TLSEncodable, TLSDecodable {
    /// The content with its signature and confirmation tag.
    public let authenticated: AuthenticatedContent
    /// MAC under the epoch's membership key (RFC 9420 §6.2); nil unless the sender is a member.
    public let membershipTag: [UInt8]?

    /// Decodes the fields in wire order; verifies nothing.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        let content = try FramedContent(from: &reader)
        self.authenticated = try AuthenticatedContent(
            wireFormat: .publicMessage, content: content, authFrom: &reader)
        if case .member = content.sender {
            self.membershipTag = try reader.readOpaque()
        } else {
            self.membershipTag = nil
        }
    }

    /// Frames a member's signed content.
    init(_ authenticated: AuthenticatedContent, _ suite: CipherSuite, membershipKey: Secret, context: [UInt8]) {
        self.authenticated = authenticated
        self.membershipTag = Self.tag(authenticated, suite, membershipKey: membershipKey, context: context)
    }

    /// Encodes the fields in wire order.
    public func encode(to writer: inout TLSWriter) {
        self.authenticated.content.encode(to: &writer)
        self.authenticated.encodeAuth(to: &writer)
        if let membershipTag { writer.writeOpaque(membershipTag) }
    }

    /// Throws `MLSError.Code.badMembershipTag` unless a member of the epoch created the message.
    func verifyMembershipTag(_ suite: CipherSuite, membershipKey: Secret, context: [UInt8]) throws(MLSError) {
        let expected = Self.tag(self.authenticated, suite, membershipKey: membershipKey, context: context)
        // V6.2-1: The membership tag is valid.
        guard let membershipTag, constantTimeEqual(membershipTag, expected) else {
            throw MLSError(.badMembershipTag, "the membership tag does not match (RFC 9420 §6.2)")
        }
    }

    /// Computes the MAC over AuthenticatedContentTBM: the signed structure and the auth data.
    private static func tag(
        _ authenticated: AuthenticatedContent, _ suite: CipherSuite, membershipKey: Secret, context: [UInt8]
    ) -> [UInt8] {
        var writer = TLSWriter(capacity: authenticated.content.encoded.count + context.count + 256)
        writer.writeFixed(
            AuthenticatedContent.toBeSigned(authenticated.content, wireFormat: .publicMessage, context: context))
        authenticated.encodeAuth(to: &writer)
        return suite.hash.hmac(key: membershipKey, writer.bytes)
    }
}
