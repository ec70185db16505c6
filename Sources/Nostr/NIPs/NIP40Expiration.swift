/// NIP-40: expiring events.
extension Tag {
    /// Returns `["expiration", seconds]`; `time` is in seconds since 1970.
    public static func expiration(at time: Int64) -> Tag { Tag("expiration", String(time)) }
}

extension [Tag] {
    /// Expiration in seconds since 1970; nil without the tag, or if its value is not a number.
    public var expiration: Int64? { first(named: "expiration")?.value.flatMap { Int64(decimal: $0) } }
}

extension Event {
    /// Expiration in seconds since 1970; nil without the tag, or if its value is not a number.
    public var expiration: Int64? { tags.expiration }

    /// Returns whether the event has expired at `now`, in seconds since 1970.
    public func isExpired(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
}

extension UnsignedEvent {
    /// Expiration in seconds since 1970; nil without the tag, or if its value is not a number.
    public var expiration: Int64? { tags.expiration }
}
