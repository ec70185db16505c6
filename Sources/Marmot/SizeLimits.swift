import Nostr

/// What a Welcome and a commit must fit into; checked before anything is committed.
///
/// A Welcome carries the whole tree, so it is what limits a group: NIP-44 takes 65,535 bytes of text, and a gift wrap
/// encrypts twice (wire §4.3); relays take events up to a size of their own.
public struct SizeLimits: Sendable, Hashable {
    /// The bytes of JSON in an event that the relays take; nil if they take any.
    public var relayEventBytes: Int?
    /// Whether Welcomes go out in gift wraps.
    public var wrapsWelcomes: Bool

    public init(relayEventBytes: Int?, wrapsWelcomes: Bool = true) {
        self.relayEventBytes = relayEventBytes
        self.wrapsWelcomes = wrapsWelcomes
    }

    /// What nearly every relay takes, that of nostr-sdk among them.
    public static let common = SizeLimits(relayEventBytes: 65_536)
    /// Only what NIP-44 holds.
    public static let giftWrap = SizeLimits(relayEventBytes: nil)
    /// None, where nothing is sent: measurements.
    public static let unlimited = SizeLimits(relayEventBytes: nil, wrapsWelcomes: false)

    /// Throws ``MarmotError/Code/tooLarge`` unless a Welcome for a group of `members` can be sent.
    func requireFit(of welcome: UnsignedEvent, members: Int) throws(MarmotError) {
        guard self.wrapsWelcomes else { return }
        let size = welcome.rumorJSON().count
        let (most, limit) = (GiftWrap.largestRumor(), GiftWrap.largestRumor(inWrapOf: self.relayEventBytes))
        guard size > limit else { return }
        let holder =
            if let relayEventBytes, limit < most {
                "a gift wrap of \(relayEventBytes) bytes, the relays' limit for an event, holds \(limit)"
            } else { "a gift wrap holds \(limit) (NIP-44)" }
        throw MarmotError(
            .tooLarge,
            """
            the Welcome has \(size) bytes and \(holder); of the \(members) members that the group would have, about \
            \(members * limit / size) fit
            """)
    }

    /// Throws ``MarmotError/Code/tooLarge`` unless relays take this commit.
    func requireFit(of commit: Event, members: Int) throws(MarmotError) {
        let size = commit.json().count
        guard let relayEventBytes, size > relayEventBytes else { return }
        throw MarmotError(
            .tooLarge,
            "the commit's event has \(size) bytes and relays take events of \(relayEventBytes); do it in smaller steps")
    }
}
