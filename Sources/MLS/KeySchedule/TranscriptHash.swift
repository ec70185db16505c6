import TLSCodec

// struct {
//     WireFormat wire_format;
//     FramedContent content;
//     opaque signature<V>;
// } ConfirmedTranscriptHashInput;
//
// struct {
//     MAC confirmation_tag;
// } InterimTranscriptHashInput;

extension CipherSuite {
    /// Returns confirmed_transcript_hash[n] (RFC 9420 §8.2).
    func confirmedTranscriptHash(interim: [UInt8], commit: AuthenticatedContent) -> [UInt8] {
        // V8-1: Transcript hashes are derived as specified.
        var writer = TLSWriter(capacity: commit.content.encoded.count + 128)
        writer.write(commit.wireFormat.rawValue)
        writer.writeFixed(commit.content.encoded)
        writer.writeOpaque(commit.signature)
        return self.hash.digest(interim, writer.bytes)
    }

    /// Returns interim_transcript_hash[n] (RFC 9420 §8.2).
    func interimTranscriptHash(confirmed: [UInt8], confirmationTag: [UInt8]) -> [UInt8] {
        var writer = TLSWriter(capacity: 80)
        writer.writeOpaque(confirmationTag)
        return self.hash.digest(confirmed, writer.bytes)
    }
}
