import TLSCodec

// struct {
//     select (PrivateMessage.content_type) { … };     // the body of FramedContent
//     FramedContentAuthData auth;
//     opaque padding[length_of_padding];
// } PrivateMessageContent;

/// Encryption of a message's content (RFC 9420 §6.3.1).
enum ContentEncryption {
    /// Encrypts signed content with a key of the sender's ratchet and adds `padding` zero bytes.
    static func seal(
        _ authenticated: AuthenticatedContent, _ suite: CipherSuite, key: MessageKey, generation: UInt32,
        leafIndex: LeafIndex, senderDataSecret: Secret, padding: Int, using rng: inout some RandomNumberGenerator
    ) throws -> PrivateMessage {
        let content = authenticated.content
        var writer = TLSWriter(capacity: content.encoded.count + authenticated.signature.count + padding + 64)
        content.encoded[content.bodyOffset...].withUnsafeBytes { writer.writeFixed($0) }
        authenticated.encodeAuth(to: &writer)
        // V6.3.1-1: Padding is all zeros.
        writer.writeFixed(Array(repeating: 0, count: padding))
        // V6.3.1-3: Every message has a fresh reuse guard.
        let reuseGuard = rng.bytes(4)
        let ciphertext = try suite.aead.seal(
            writer.bytes, key: key.key, nonce: self.nonce(key.nonce, reuseGuard),
            additionalData: PrivateMessage.contentAAD(
                groupID: content.groupID, epoch: content.epoch, contentType: content.contentType,
                authenticatedData: content.authenticatedData))
        let senderData = SenderData(leafIndex: leafIndex, generation: generation, reuseGuard: reuseGuard)
        return PrivateMessage(
            groupID: content.groupID, epoch: content.epoch, contentType: content.contentType,
            authenticatedData: content.authenticatedData,
            encryptedSenderData: try senderData.sealed(
                suite, senderDataSecret: senderDataSecret, ciphertext: ciphertext, groupID: content.groupID,
                epoch: content.epoch, contentType: content.contentType),
            ciphertext: ciphertext)
    }

    /// Decrypts the content; refuses non-zero padding (RFC 9420 §6.3.1).
    static func open(
        _ message: PrivateMessage, _ suite: CipherSuite, key: MessageKey, senderData: SenderData
    ) throws(MLSError) -> AuthenticatedContent {
        // V6.3-1: The content is encrypted with the suite's AEAD.
        // V6.3.1-4: The nonce depends on the reuse guard of the sender data.
        let plaintext = try suite.aead.open(
            message.ciphertext, key: key.key, nonce: self.nonce(key.nonce, senderData.reuseGuard),
            additionalData: PrivateMessage.contentAAD(
                groupID: message.groupID, epoch: message.epoch, contentType: message.contentType,
                authenticatedData: message.authenticatedData))
        do {
            var reader = TLSReader(plaintext)
            let body = try FramedContent.Body(message.contentType, from: &reader)
            let content = FramedContent(
                groupID: message.groupID, epoch: message.epoch, sender: .member(senderData.leafIndex),
                authenticatedData: message.authenticatedData, body: body, bodyBytes: plaintext[..<reader.offset])
            let authenticated = try AuthenticatedContent(
                wireFormat: .privateMessage, content: content, authFrom: &reader)
            // V6.3.1-1: Padding is all zeros.
            guard plaintext[reader.offset...].allSatisfy({ $0 == 0 }) else {
                throw TLSCodecError(.invalidValue, offset: reader.offset, "padding contains non-zero bytes")
            }
            return authenticated
        } catch let error as TLSCodecError {
            throw MLSError(decoding: "PrivateMessageContent", error)
        } catch {
            throw MLSError(.malformed, "PrivateMessageContent does not decode")
        }
    }

    private static func nonce(_ nonce: Secret, _ reuseGuard: [UInt8]) -> [UInt8] {
        var bytes = nonce.copyBytes()
        for index in 0..<4 { bytes[index] ^= reuseGuard[index] }
        return bytes
    }
}
