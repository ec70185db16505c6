import Nostr

/// Size limits for Welcomes and commits, checked before anything is committed.
///
/// A Welcome carries the whole tree, so it limits the size of a group: NIP-44 accepts 65,535 bytes of text, a
/// gift wrap encrypts twice (docs/protocol/marmot.md §4.3), and relays have their own limits on the size of an event.
public struct SizeLimits: Sendable, Hashable {
    /// Maximum size in bytes of an event's JSON that the relays accept; nil for no limit.
    public var relayEventBytes: Int?
    /// Whether Welcomes are sent in gift wraps.
    public var wrapsWelcomes: Bool

    /// Creates limits; by default for Welcomes in gift wraps.
    public init(relayEventBytes: Int?, wrapsWelcomes: Bool = true) {
        self.relayEventBytes = relayEventBytes
        self.wrapsWelcomes = wrapsWelcomes
    }

    /// Size that nearly every relay accepts, including nostr-sdk's.
    public static let common = SizeLimits(relayEventBytes: 65_536)
    /// The limit of NIP-44 alone.
    public static let giftWrap = SizeLimits(relayEventBytes: nil)
    /// No limits, for measurements that send nothing.
    public static let unlimited = SizeLimits(relayEventBytes: nil, wrapsWelcomes: false)

    /// Throws `MarmotError.Code.tooLarge` unless a Welcome for a group of `members` can be sent.
    func requireFit(of welcome: UnsignedEvent, members: Int) throws(MarmotError) {
        guard self.wrapsWelcomes else { return }
        let size = welcome.rumorJSON().count
        let (most, limit) = (GiftWrap.largestRumor(), GiftWrap.largestRumor(inWrapOf: self.relayEventBytes))
        guard size > limit else { return }
        let holder =
            if let relayEventBytes, limit < most {
                "a gift wrap of \(relayEventBytes) bytes, the relays' event limit, holds \(limit)"
            } else { "a gift wrap holds \(limit) (NIP-44)" }
        throw MarmotError(
            .tooLarge,
            """
            the Welcome has \(size) bytes and \(holder); of the \(members) members that the group would have, about \
            \(members * limit / size) fit
            """)
    }

    /// Throws `MarmotError.Code.tooLarge` if relays would refuse this commit's event.
    func requireFit(of commit: Event, members: Int) throws(MarmotError) {
        let size = commit.json().count
        guard let relayEventBytes, size > relayEventBytes else { return }
        throw MarmotError(
            .tooLarge,
            "the commit's event has \(size) bytes, relays accept at most \(relayEventBytes); split the change")
    }
}
