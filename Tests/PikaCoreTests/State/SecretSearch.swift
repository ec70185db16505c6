import Nostr

/// Searches everything reachable in a value by reflection for leaked secrets.
struct SecretSearch {
    private var bytes: [UInt8] = []

    init(_ value: Any) {
        self.collect(value, depth: 0)
        self.bytes += Array("\(value)".utf8)
        self.bytes += Array(String(reflecting: value).utf8)
    }

    private mutating func collect(_ value: Any, depth: Int) {
        guard depth < 64 else { return }
        if let text = value as? String {
            self.bytes += Array(text.utf8) + [0]
        } else if let bytes = value as? [UInt8] {
            self.bytes += bytes + [0]
        } else {
            for child in Mirror(reflecting: value).children { self.collect(child.value, depth: depth + 1) }
        }
    }

    /// Returns whether the value contains a secret as raw bytes, in hexadecimal, or as a list of numbers.
    func finds(_ secret: [UInt8]) -> Bool {
        [secret, Array(Hex.encode(secret).utf8), Array(secret.map(String.init).joined(separator: ", ").utf8)]
            .contains(where: self.contains)
    }

    func finds(_ text: String) -> Bool { self.contains(Array(text.utf8)) }

    private func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first, part.count <= self.bytes.count else { return false }
        return self.bytes.withUnsafeBufferPointer { bytes in
            (0...bytes.count - part.count).contains { start in
                bytes[start] == first && bytes[start..<start + part.count].elementsEqual(part)
            }
        }
    }
}
