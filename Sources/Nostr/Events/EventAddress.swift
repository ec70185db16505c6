/// Address of a replaceable or addressable event, shared by all its versions: kind, author and `d` tag (NIP-01).
public struct EventAddress: Hashable, Sendable, CustomStringConvertible {
    /// The kind that all versions share.
    public let kind: Kind
    /// The author of all versions.
    public let pubkey: PublicKey
    /// The `d` tag; empty for replaceable events.
    public let identifier: String

    /// Creates an address without checking that the kind is replaceable or addressable.
    public init(kind: Kind, pubkey: PublicKey, identifier: String = "") {
        self.kind = kind
        self.pubkey = pubkey
        self.identifier = identifier
    }

    /// Parses the value of an `a` tag, `kind:author:identifier`; nil if it is invalid.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let kind = UInt16(decimal: parts[0]), let pubkey = Bytes32(hex: String(parts[1]))
        else { return nil }
        self.init(kind: Kind(rawValue: kind), pubkey: PublicKey(value: pubkey), identifier: String(parts[2]))
    }

    /// The value of an `a` tag: `kind:author:identifier`, the author as 64 hexadecimal digits.
    public var description: String { "\(kind):\(pubkey):\(identifier)" }
}

extension Event {
    /// The event's address; nil for kinds that are neither replaceable nor addressable.
    public var address: EventAddress? {
        if kind.isReplaceable { return EventAddress(kind: kind, pubkey: pubkey) }
        guard kind.isAddressable else { return nil }
        return EventAddress(kind: kind, pubkey: pubkey, identifier: firstTag("d")?.value ?? "")
    }
}

extension FixedWidthInteger {
    /// Parses a number of digits only, without sign or blanks; nil if it overflows.
    package init?(decimal text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        self.init(text, radix: 10)
    }
}
