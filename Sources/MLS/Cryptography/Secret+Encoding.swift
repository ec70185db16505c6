import TLSCodec

extension TLSWriter {
    /// Appends a secret as `opaque<V>`; the caller answers for the buffer.
    mutating func writeSecret(_ secret: Secret) {
        secret.withUnsafeBytes { self.writeOpaque($0) }
    }

    /// Everything written so far as a secret; the buffer is wiped.
    mutating func takeSecret() -> Secret {
        var bytes = self.takeBytes()
        defer { bytes.wipe() }
        return Secret(bytes)
    }
}

extension TLSReader {
    /// Reads `opaque<V>` straight into a secret.
    mutating func readSecret() throws(TLSCodecError) -> Secret { Secret(try self.readOpaqueSlice()) }
}

extension Secret {
    /// Decodes the bytes with `body`, which must consume them all, and wipes the copy that it read from.
    func decode<Value>(
        _ body: (inout TLSReader) throws(TLSCodecError) -> Value
    ) throws(TLSCodecError) -> Value {
        var bytes = self.copyBytes()
        defer { bytes.wipe() }
        var reader = TLSReader(bytes)
        let value = try body(&reader)
        try reader.finish()
        return value
    }
}
