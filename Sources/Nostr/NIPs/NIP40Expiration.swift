/// NIP-40: events that end by themselves.
extension Tag {
    /// `["expiration", seconds]`: `time` in seconds since 1970.
    public static func expiration(at time: Int64) -> Tag { Tag("expiration", String(time)) }
}

extension [Tag] {
    /// Seconds since 1970. Nil without the tag, or if its value is no time.
    public var expiration: Int64? { first(named: "expiration")?.value.flatMap { Int64(decimal: $0) } }
}

extension Event {
    /// Seconds since 1970. Nil without the tag, or if its value is no time.
    public var expiration: Int64? { tags.expiration }

    /// Whether the event has ended at `now`, in seconds since 1970.
    public func isExpired(at now: Int64) -> Bool { expiration.map { $0 <= now } ?? false }
}

extension UnsignedEvent {
    /// Seconds since 1970. Nil without the tag, or if its value is no time.
    public var expiration: Int64? { tags.expiration }
}
