public import TLSCodec

// HPKECiphertext encrypted_path_secret<V>;

/// Ciphertexts of a path node (RFC 9420 §7.6), kept encoded: there may be thousands, of which a member reads one.
public struct PathCiphertexts: RandomAccessCollection, Sendable, TLSEncodable, TLSDecodable {
    private struct Place: Sendable {
        let kemOutput: Range<Int>
        let ciphertext: Range<Int>
    }

    /// The vector without its length, as a view of the input. The ranges of `places` index it.
    private let encoded: ArraySlice<UInt8>
    private let places: [Place]

    /// Encodes ciphertexts.
    init(_ ciphertexts: [HPKECiphertext]) {
        var writer = TLSWriter(capacity: ciphertexts.reduce(0) { $0 + $1.kemOutput.count + $1.ciphertext.count + 8 })
        var places: [Place] = []
        places.reserveCapacity(ciphertexts.count)
        for sealed in ciphertexts {
            writer.writeOpaque(sealed.kemOutput)
            let kemOutput = writer.bytes.count - sealed.kemOutput.count..<writer.bytes.count
            writer.writeOpaque(sealed.ciphertext)
            let ciphertext = writer.bytes.count - sealed.ciphertext.count..<writer.bytes.count
            places.append(Place(kemOutput: kemOutput, ciphertext: ciphertext))
        }
        self.encoded = writer.bytes[...]
        self.places = places
    }

    /// Decodes the vector, and checks the encoding of every ciphertext.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        (self.encoded, self.places) = try reader.readVector {
            (inner: inout TLSReader) throws(TLSCodecError) -> (ArraySlice<UInt8>, [Place]) in
            let start = inner.offset
            var places: [Place] = []
            while !inner.isAtEnd {
                let kemOutput = try inner.readOpaqueSlice().indices
                places.append(Place(kemOutput: kemOutput, ciphertext: try inner.readOpaqueSlice().indices))
            }
            return (inner.bytes[start..<inner.offset], places)
        }
    }

    /// Encodes the vector with its length.
    public func encode(to writer: inout TLSWriter) {
        self.encoded.withUnsafeBytes { writer.writeOpaque($0) }
    }

    public var startIndex: Int { 0 }
    public var endIndex: Int { self.places.count }

    /// Decodes the ciphertext at `position`, counted from 0 in wire order.
    public subscript(position: Int) -> HPKECiphertext {
        let place = self.places[position]
        return HPKECiphertext(
            kemOutput: Array(self.encoded[place.kemOutput]), ciphertext: Array(self.encoded[place.ciphertext]))
    }
}

extension PathCiphertexts: Hashable {
    public static func == (first: PathCiphertexts, second: PathCiphertexts) -> Bool { first.encoded == second.encoded }

    public func hash(into hasher: inout Hasher) { hasher.combine(self.encoded) }
}
