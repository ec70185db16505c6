/// NIP-40: expiring events.
extension Tag {
    /// Returns `["expiration", seconds]`.
    public static func expiration(at time: UnixTime) -> Tag { Tag("expiration", time.description) }
}

extension [Tag] {
    /// The expiration; nil without the tag, or if its value is not a number.
    public var expiration: UnixTime? {
        first(named: "expiration")?.value.flatMap { Int64(decimal: $0) }.map { UnixTime($0) }
    }
}

extension Event {
    /// The expiration; nil without the tag, or if its value is not a number.
    public var expiration: UnixTime? { tags.expiration }

    /// Returns whether the event has expired at `now`.
    public func isExpired(at now: UnixTime) -> Bool { expiration.map { $0 <= now } ?? false }
}

extension UnsignedEvent {
    /// The expiration; nil without the tag, or if its value is not a number.
    public var expiration: UnixTime? { tags.expiration }
}
