extension Tag {
    /// `["-"]` (NIP-70): only the author may publish the event to a relay.
    public static let protected = Tag("-")
}

extension Event {
    /// Whether only the authenticated author may publish this event to a relay (NIP-70).
    public var isProtected: Bool { firstTag("-") != nil }
}
