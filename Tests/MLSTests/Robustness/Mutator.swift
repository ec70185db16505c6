import LiveTesting

/// Damages bytes in ways that reveal decoder faults: flipped bits, truncation, insertions, moved parts, and length
/// headers that announce too much.
struct Mutator {
    var rng: SplitMix64

    init(_ seed: UInt64) { self.rng = SplitMix64(seed: seed) }

    mutating func mutate(_ original: [UInt8]) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &self.rng) { self.step(&bytes) }
        return bytes
    }

    private mutating func step(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else {
            bytes = [UInt8.random(in: 0...255, using: &self.rng)]
            return
        }
        let position = Int.random(in: 0..<bytes.count, using: &self.rng)
        let length = Int.random(in: 0...min(40, bytes.count - position), using: &self.rng)
        switch Int.random(in: 0..<7, using: &self.rng) {
        case 0, 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &self.rng)
        case 2: bytes[position] = UInt8.random(in: 0...255, using: &self.rng)
        case 3: bytes.removeSubrange(position..<position + length)
        case 4: bytes.removeLast(bytes.count - position)
        case 5:
            let target = Int.random(in: 0...bytes.count, using: &self.rng)
            bytes.insert(contentsOf: Array(bytes[position..<position + length]), at: target)
        default:
            let header: [[UInt8]] = [[0x3F], [0x7F, 0xFF], [0xBF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xFF]]
            let chosen = header[Int.random(in: 0..<header.count, using: &self.rng)]
            bytes.replaceSubrange(position..<min(bytes.count, position + chosen.count), with: chosen)
        }
    }
}
