import LiveTesting
import Nostr

/// Seeded damage to untrusted input.
struct Mutator {
    var rng: SplitMix64

    init(seed: UInt64) { self.rng = SplitMix64(seed: seed) }

    /// Changes, deletes or inserts one to three bytes, or removes or repeats parts; the result always differs.
    mutating func damage(_ bytes: [UInt8]) -> [UInt8] {
        var damaged = bytes
        while damaged == bytes { damaged = self.mayDamage(bytes) }
        return damaged
    }

    private mutating func mayDamage(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &self.rng) {
            guard !bytes.isEmpty else { return [UInt8.random(in: 0...255, using: &self.rng)] }
            let position = Int.random(in: 0..<bytes.count, using: &self.rng)
            switch Int.random(in: 0..<6, using: &self.rng) {
            case 0, 1: bytes[position] = UInt8.random(in: 0...255, using: &self.rng)
            case 2: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &self.rng)
            case 3: bytes.removeSubrange(position...)
            case 4: bytes.insert(UInt8.random(in: 0...255, using: &self.rng), at: position)
            default:
                let end = min(bytes.count, position + Int.random(in: 1...40, using: &self.rng))
                bytes.append(contentsOf: bytes[position..<end])
            }
        }
        return bytes
    }

    mutating func damage(_ text: String) -> String {
        String(decoding: self.damage(Array(text.utf8)), as: UTF8.self)
    }

    /// Damages the bytes inside the Base64, or the text itself.
    mutating func damage(base64 text: String) -> String {
        Bool.random(using: &self.rng)
            ? self.damage(text) : Base64.encode(self.damage(Base64.decode(text) ?? []))
    }

    /// Deletes, repeats or empties a tag, or changes one of its values.
    mutating func damage(_ tags: [Tag]) -> [Tag] {
        var tags = tags
        guard !tags.isEmpty else { return [Tag(values: [])] }
        let position = Int.random(in: 0..<tags.count, using: &self.rng)
        switch Int.random(in: 0..<4, using: &self.rng) {
        case 0: tags.remove(at: position)
        case 1: tags.append(tags[position])
        case 2: tags[position].values = []
        default:
            guard !tags[position].values.isEmpty else { break }
            let value = Int.random(in: 0..<tags[position].values.count, using: &self.rng)
            tags[position].values[value] = self.damage(tags[position].values[value])
        }
        return tags
    }

    /// Changes one part of the event; its id and signature stay, as for readers behind `verify()`.
    mutating func damage(_ event: Event) -> Event {
        var (kind, time, tags, content) = (event.kind, event.createdAt, event.tags, event.content)
        switch Int.random(in: 0..<5, using: &self.rng) {
        case 0: tags = self.damage(tags)
        case 1, 2: content = self.damage(base64: content)
        case 3: time = UnixTime(Int64.random(in: .min ... .max, using: &self.rng))
        default: kind = Kind(rawValue: UInt16.random(in: .min ... .max, using: &self.rng))
        }
        return Event(
            id: event.id, pubkey: event.pubkey, createdAt: time, kind: kind, tags: tags, content: content,
            signature: event.signature)
    }
}
