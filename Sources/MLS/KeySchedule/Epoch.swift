public import TLSCodec

/// Number of an epoch (RFC 9420 §8.1).
///
/// An inviter chooses it, so no operation may trap: steps saturate at both ends, and ages are computed as distances
/// rather than sums.
public struct Epoch: RawRepresentable, Hashable, Comparable, Sendable {
    /// Number as on the wire.
    public let rawValue: UInt64

    /// Creates an epoch with any number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The epoch in which a group is created.
    public static let first = Epoch(rawValue: 0)
    /// Maximum epoch that can be represented; no epoch follows it.
    public static let max = Epoch(rawValue: .max)
    /// Maximum epoch at which this implementation joins a group; no real group reaches it.
    public static let highestJoinable = Epoch(rawValue: 1 << 62)

    /// The epoch after this one; nil after the last.
    public var next: Epoch? { self == .max ? nil : self.later(by: 1) }

    /// The epoch before this one; nil before the first.
    public var previous: Epoch? { self == .first ? nil : self.earlier(by: 1) }

    /// Returns the epoch `count` steps later, at most the last.
    public func later(by count: Int) -> Epoch {
        let (sum, overflow) = self.rawValue.addingReportingOverflow(UInt64(clamping: count))
        return Epoch(rawValue: overflow ? .max : sum)
    }

    /// Returns the epoch `count` steps earlier, at least the first.
    public func earlier(by count: Int) -> Epoch {
        let (difference, overflow) = self.rawValue.subtractingReportingOverflow(UInt64(clamping: count))
        return Epoch(rawValue: overflow ? 0 : difference)
    }

    /// Returns the number of epochs from `other` to this one, clamped to the range of `Int`; 0 if `other` is later.
    public func distance(since other: Epoch) -> Int {
        self > other ? Int(clamping: self.rawValue &- other.rawValue) : 0
    }

    /// Returns whether this epoch is `other`, one of the `count` before it, or any after it.
    public func isWithin(_ count: Int, of other: Epoch) -> Bool { other.distance(since: self) <= count }

    /// Returns whether `other` directly follows this epoch.
    public func isFollowed(by other: Epoch) -> Bool { self.next == other }

    /// Compares the numbers.
    public static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
}

extension Epoch: ExpressibleByIntegerLiteral {
    /// Creates an epoch from an integer literal.
    public init(integerLiteral value: UInt64) { self.init(rawValue: value) }
}

extension Epoch: LosslessStringConvertible {
    /// Parses a decimal number; nil if the text is not one or exceeds 64 bits.
    public init?(_ description: String) {
        guard let value = UInt64(description) else { return nil }
        self.init(rawValue: value)
    }

    /// The number in decimal digits.
    public var description: String { String(self.rawValue) }
}

extension Epoch: TLSEncodable, TLSDecodable {
    /// Decodes a `uint64`.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.init(rawValue: try reader.readUInt64())
    }

    /// Encodes the number as a `uint64`.
    public func encode(to writer: inout TLSWriter) { writer.write(self.rawValue) }
}

extension Epoch {
    /// The number as eight bytes, big-endian.
    public var bytes: [UInt8] { self.tlsEncoded() }

    /// Parses ``bytes``; nil unless there are eight.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 8 else { return nil }
        self.init(rawValue: bytes.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
