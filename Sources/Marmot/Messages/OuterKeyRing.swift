import MLS
public import Nostr

/// Identifier of an outer key (MIP-03) that does not reveal the key.
public struct OuterKeyMark: Sendable, Hashable {
    private let digest: [UInt8]

    init(_ key: Secret) {
        let label = Array("pikabot outer key mark".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(label.count + key.count)
        defer { bytes.wipe() }
        bytes += label
        key.withUnsafeBytes { bytes.append(contentsOf: $0) }
        self.digest = Array(SHA256Derivation.digest(bytes).prefix(16))
    }
}

/// Keys with which a group tries to open the outer layer of an event: the current epoch's and a few past ones.
public struct OuterKeyRing: Sendable {
    private let keys: [OuterKeyMark: Secret]

    /// Creates an empty key ring.
    public init() { self.keys = [:] }

    init(_ keys: some Collection<Secret>) {
        self.keys = Dictionary(keys.map { (OuterKeyMark($0), $0) }) { first, _ in first }
    }

    /// Marks of all keys in the ring.
    public var marks: Set<OuterKeyMark> { Set(self.keys.keys) }

    /// Returns whether one of the keys with these marks opens the outer layer of an event.
    public func opens(_ event: Event, with marks: some Sequence<OuterKeyMark>) -> Bool {
        guard let (nonce, ciphertext) = try? GroupEvents.ciphertext(event) else { return false }
        return marks.contains { mark in
            guard let key = self.keys[mark] else { return false }
            return (try? ChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce)) != nil
        }
    }
}

extension ComponentGroup {
    /// Returns the keys that ``open(_:over:)`` tries for the same values.
    package static func outerKeyRing(over groups: some Collection<ComponentGroup>) -> OuterKeyRing {
        OuterKeyRing(groups.map(\.outerKey) + (groups.first?.past.map(\.outerKey) ?? []))
    }
}

extension MarmotGroup {
    /// Outer keys of the current epoch and of the past ones that are kept.
    public var outerKeyRing: OuterKeyRing { OuterKeyRing(self.outerKeys.values) }
}
