/// A point in time, in whole seconds since 1970 in UTC: the unit of an event's `created_at` (NIP-01).
///
/// Peers choose such times, so arithmetic on them stays within the range of `Int64` instead of trapping.
public struct UnixTime: Hashable, Comparable, Sendable {
    /// The seconds since 1970; negative before.
    public let seconds: Int64

    /// Creates a time from seconds since 1970.
    public init(_ seconds: Int64) {
        self.seconds = seconds
    }

    /// Creates a time from milliseconds since 1970, rounded towards 1970.
    public init(milliseconds: Int64) {
        self.seconds = milliseconds / 1000
    }

    /// The earliest time.
    public static let distantPast = UnixTime(.min)

    /// The latest time.
    public static let distantFuture = UnixTime(.max)

    /// The milliseconds since 1970, or the nearest `Int64`.
    public var milliseconds: Int64 { self.seconds.clampedMultiplied(by: 1000) }

    /// Returns the seconds from `earlier` to this time, negative if it is before, or the nearest `Int64`.
    public func seconds(since earlier: UnixTime) -> Int64 {
        self.seconds.clampedSubtracting(earlier.seconds)
    }

    /// Orders the earlier time first.
    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// Returns the time `seconds` later, or the nearest time that exists.
    public static func + (time: UnixTime, seconds: Int64) -> UnixTime {
        UnixTime(time.seconds.clampedAdding(seconds))
    }

    /// Returns the time `seconds` earlier, or the nearest time that exists.
    public static func - (time: UnixTime, seconds: Int64) -> UnixTime {
        UnixTime(time.seconds.clampedSubtracting(seconds))
    }

    /// Moves the time by `seconds`, or to the nearest time that exists.
    public static func += (time: inout UnixTime, seconds: Int64) { time = time + seconds }

    /// Moves the time back by `seconds`, or to the nearest time that exists.
    public static func -= (time: inout UnixTime, seconds: Int64) { time = time - seconds }
}

extension UnixTime: ExpressibleByIntegerLiteral {
    /// Creates a time from seconds since 1970.
    public init(integerLiteral seconds: Int64) {
        self.init(seconds)
    }
}

extension UnixTime: CustomStringConvertible {
    /// The seconds since 1970, in decimal.
    public var description: String { String(self.seconds) }
}

extension UnixTime: Codable {
    /// Reads the seconds since 1970.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(Int64.self))
    }

    /// Writes the seconds since 1970.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.seconds)
    }
}
