package import TLSCodec

extension TLSWriter {
    /// Appends a secret as `opaque<V>`; the caller must wipe the buffer.
    package mutating func writeSecret(_ secret: Secret) {
        secret.withUnsafeBytes { self.writeOpaque($0) }
    }

    /// Returns everything written so far as a secret and wipes the buffer.
    package mutating func takeSecret() -> Secret {
        var bytes = self.takeBytes()
        defer { bytes.wipe() }
        return Secret(bytes)
    }
}

extension TLSReader {
    /// Reads `opaque<V>` directly into a secret.
    package mutating func readSecret() throws(TLSCodecError) -> Secret { Secret(try self.readOpaqueSlice()) }
}

extension Secret {
    /// Decodes the bytes with `body`, which must consume all of them, and wipes the temporary copy.
    package func decode<Value>(
        _ body: (inout TLSReader) throws(TLSCodecError) -> Value
    ) throws(TLSCodecError) -> Value {
        var bytes = self.copyBytes()
        defer { bytes.wipe() }
        return try Self.decode(bytes, body)
    }

    // A separate function, so that no reader shares the buffer when it is wiped: copy-on-write would wipe another
    // buffer.
    @inline(never)
    private static func decode<Value>(
        _ bytes: [UInt8], _ body: (inout TLSReader) throws(TLSCodecError) -> Value
    ) throws(TLSCodecError) -> Value {
        var reader = TLSReader(bytes)
        let value = try body(&reader)
        try reader.finish()
        return value
    }
}
