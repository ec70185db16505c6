/// A few public keys to look for among many: nearly every other key is told apart by its last byte.
struct KeyFilter {
    private var keys: Set<[UInt8]> = []
    private var lastBytes: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private var met: Set<[UInt8]> = []

    init(_ keys: [[UInt8]] = []) {
        for key in keys { _ = self.insert(key) }
    }

    /// Adds a key and says whether it is new.
    mutating func insert(_ key: [UInt8]) -> Bool {
        let last = key.last ?? 0
        let bit = UInt64(1) << UInt64(last & 63)
        switch last >> 6 {
        case 0: self.lastBytes.0 |= bit
        case 1: self.lastBytes.1 |= bit
        case 2: self.lastBytes.2 |= bit
        default: self.lastBytes.3 |= bit
        }
        return self.keys.insert(key).inserted
    }

    /// Whether `key` is one of the keys and was met before.
    mutating func meetsAgain(_ key: [UInt8]) -> Bool {
        self.contains(key) && !self.met.insert(key).inserted
    }

    func contains(_ key: [UInt8]) -> Bool {
        let last = key.last ?? 0
        let word =
            switch last >> 6 {
            case 0: self.lastBytes.0
            case 1: self.lastBytes.1
            case 2: self.lastBytes.2
            default: self.lastBytes.3
            }
        return word >> UInt64(last & 63) & 1 == 1 && self.keys.contains(key)
    }
}
