/// Writer of compact JSON. The caller writes brackets and commas.
struct JSONWriter {
    /// Treatment of control characters that have no short escape.
    enum Controls {
        /// As `\u00XX`, as RFC 8259 requires.
        case escaped
        /// Verbatim, as NIP-01's canonical serialisation requires.
        case verbatim
    }

    private(set) var bytes: [UInt8] = []
    private let controls: Controls

    init(capacity: Int, controls: Controls = .escaped) {
        self.controls = controls
        bytes.reserveCapacity(capacity)
    }

    mutating func raw(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func raw(_ byte: UInt8) { bytes.append(byte) }

    mutating func integer(_ value: some FixedWidthInteger) { bytes.append(contentsOf: String(value).utf8) }

    mutating func verbatim(_ text: String) { bytes.append(contentsOf: text.utf8) }

    mutating func string(_ text: String) {
        bytes.append(0x22)
        let done: Void? = text.utf8.withContiguousStorageIfAvailable { escape($0) }
        if done == nil { Array(text.utf8).withUnsafeBufferPointer { escape($0) } }
        bytes.append(0x22)
    }

    mutating func hex(_ value: Bytes32) { hex(digits: 64) { value.writeHex(into: $0) } }
    mutating func hex(_ value: Signature) { hex(digits: 128) { value.writeHex(into: $0) } }

    private mutating func hex(digits: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: digits + 2) { buffer in
            buffer.initialize(repeating: 0x22)
            write(UnsafeMutableBufferPointer(rebasing: buffer[1..<(digits + 1)]))
            bytes.append(contentsOf: buffer)
        }
    }

    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        while start < text.count {
            let end = JSONText.nextSpecial(in: text, from: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
            guard end < text.count else { return }
            escape(text[end])
            start = end + 1
        }
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case 0x22: raw("\\\"")
        case 0x5c: raw("\\\\")
        case 0x0a: raw("\\n")
        case 0x0d: raw("\\r")
        case 0x09: raw("\\t")
        case 0x08: raw("\\b")
        case 0x0c: raw("\\f")
        default:
            guard controls == .escaped else { return bytes.append(byte) }
            raw("\\u00")
            bytes.append(Hex.digits[Int(byte >> 4)])
            bytes.append(Hex.digits[Int(byte & 15)])
        }
    }
}

extension JSONWriter {
    /// Writes `[…]` with commas between the elements.
    mutating func array<Element>(_ elements: some Sequence<Element>, _ write: (inout JSONWriter, Element) -> Void) {
        raw("[")
        var first = true
        for element in elements {
            if !first { raw(",") }
            first = false
            write(&self, element)
        }
        raw("]")
    }

    mutating func tags(_ tags: [Tag]) {
        array(tags) { writer, tag in
            writer.array(tag.values) { $0.string($1) }
        }
    }
}
