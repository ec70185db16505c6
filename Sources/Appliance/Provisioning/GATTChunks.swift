/// Messages that are longer than one write or notification, in chunks: message number, index and count, one byte each,
/// then the content.
package enum GATTChunks {
    package static let headerBytes = 3
    /// Bytes of an attribute's write or notification before its value (Bluetooth Core, Vol 3, Part F §3.4).
    package static let attributeHeaderBytes = 3
    /// The smallest MTU of a connection.
    package static let smallestMTU = 23
    package static let largestMTU = 517
    /// Maximum size of a message in bytes; it fits in 255 chunks of the smallest MTU.
    package static let maximumBytes = 4_096

    /// Splits a message for a connection's MTU; an MTU outside its range is moved to the nearest bound.
    ///
    /// Throws `ApplianceError.Code.tooLarge`.
    package static func split(_ message: [UInt8], number: UInt8, mtu: Int) throws(ApplianceError) -> [[UInt8]] {
        guard message.count <= Self.maximumBytes else {
            throw ApplianceError(.tooLarge, "expected at most \(Self.maximumBytes) bytes, found \(message.count)")
        }
        let mtu = max(Self.smallestMTU, min(Self.largestMTU, mtu))
        let size = mtu - Self.attributeHeaderBytes - Self.headerBytes
        let count = max(1, (message.count + size - 1) / size)
        return (0..<count).map { index in
            let content = message[(index * size)..<min(message.count, (index + 1) * size)]
            return [number, UInt8(index), UInt8(count)] + content
        }
    }
}

/// Joins chunks to messages. A chunk that does not continue the current message ends it; one with index 0 begins another.
package struct GATTReassembler: Hashable, Sendable {
    private var number: UInt8 = 0
    private var count = 0
    private var received = 0
    private var message: [UInt8] = []
    /// Chunks that belonged to no message.
    package private(set) var dropped = 0

    package init() {}

    /// Consumes a chunk and returns the message that it completes.
    package mutating func consume(_ chunk: [UInt8]) -> [UInt8]? {
        guard chunk.count >= GATTChunks.headerBytes, chunk.count <= GATTChunks.largestMTU, chunk[2] > 0,
            chunk[1] < chunk[2]
        else { return self.abandon() }
        if chunk[1] == 0 {
            if self.received > 0 { self.dropped &+= 1 }
            (self.number, self.count, self.received, self.message) = (chunk[0], Int(chunk[2]), 0, [])
        }
        guard chunk[0] == self.number, Int(chunk[2]) == self.count, Int(chunk[1]) == self.received,
            self.message.count + chunk.count - GATTChunks.headerBytes <= GATTChunks.maximumBytes
        else { return self.abandon() }
        self.message += chunk.dropFirst(GATTChunks.headerBytes)
        self.received += 1
        guard self.received == self.count else { return nil }
        defer { (self.count, self.received, self.message) = (0, 0, []) }
        return self.message
    }

    private mutating func abandon() -> [UInt8]? {
        self.dropped &+= 1
        (self.count, self.received, self.message) = (0, 0, [])
        return nil
    }
}
