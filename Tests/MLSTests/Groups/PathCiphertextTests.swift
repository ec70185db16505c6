import TLSCodec
import Testing

@testable import MLS

@Suite struct PathCiphertextTests {
    private let ciphertexts = (0..<200).map { number in
        HPKECiphertext(
            kemOutput: [UInt8](repeating: UInt8(number), count: 32),
            ciphertext: [UInt8](repeating: 0, count: number))
    }

    /// The vector as the elements themselves encode it.
    private func vector(_ ciphertexts: [HPKECiphertext]) -> [UInt8] {
        var writer = TLSWriter()
        writer.writeVector(ciphertexts)
        return writer.bytes
    }

    @Test func encodingIsThatOfElements() throws {
        for count in [0, 1, 200] {
            let expected = Array(self.ciphertexts.prefix(count))
            let made = PathCiphertexts(expected)
            #expect(made.tlsEncoded() == self.vector(expected) && Array(made) == expected)
            // The position in the input does not matter.
            var reader = TLSReader([1, 2, 3] + self.vector(expected) + [4])
            _ = try reader.readFixed(3)
            let read = try PathCiphertexts(from: &reader)
            #expect(reader.remaining == 1)
            #expect(read == made && read.hashValue == made.hashValue && Array(read) == expected)
            #expect(read.tlsEncoded() == made.tlsEncoded())
        }
    }

    @Test func refusesBadEncodings() throws {
        let whole = self.vector(Array(self.ciphertexts.prefix(3)))
        for count in whole.indices {
            var reader = TLSReader(Array(whole.prefix(count)))
            #expect(throws: TLSCodecError.self) { _ = try PathCiphertexts(from: &reader) }
        }
        // An element that lacks its ciphertext, one that crosses the end of the vector, and a longer header than needed.
        for content in [[2, 1, 7], [4, 1, 7, 9, 9], [0x40, 4, 0x40, 1, 7, 0]] as [[UInt8]] {
            var reader = TLSReader(content + [UInt8](repeating: 0, count: 20))
            #expect(throws: TLSCodecError.self) { _ = try PathCiphertexts(from: &reader) }
        }
    }
}
