import MLS
package import Nostr

/// An item of a feed: something that happened outside the chats, for the handlers of one feed.
public struct FeedItem: Sendable, Hashable {
    /// The maximum length of ``id`` in bytes.
    package static let maximumIDBytes = 512
    /// The maximum length of ``payload`` in bytes.
    package static let maximumPayloadBytes = 1 << 20

    /// The feed's name in the configuration.
    public let feed: String
    /// The item's id within its feed, as stated by the source. An id that was received recently is not delivered again.
    public let id: String
    /// The content as received.
    public let payload: [UInt8]
    /// The name that the source gives the item, if any: the type of a server-sent event, or the name of a file.
    public let name: String?
    /// The media type that the source states, such as `application/json`; unverified, nil if it states none.
    public let contentType: String?

    /// Creates an item, for tests of handlers.
    public init(feed: String, id: String, payload: [UInt8], name: String? = nil, contentType: String? = nil) {
        self.feed = feed
        self.id = id
        self.payload = payload
        self.name = name
        self.contentType = contentType
    }

    /// The content as text; nil if it is not valid UTF-8.
    public var text: String? { String(validating: self.payload, as: UTF8.self) }

    /// The id of the item among all events of the account: SHA-256 of feed and id.
    package var eventID: EventID {
        SeenEvents.key(SHA256Derivation.digest(Array("feed\0\(self.feed)\0\(self.id)".utf8)))
    }

    /// Whether id and payload are within their limits.
    package var isWithinLimits: Bool {
        !self.id.isEmpty && self.id.utf8.count <= Self.maximumIDBytes
            && self.payload.count <= Self.maximumPayloadBytes && self.name?.utf8.count ?? 0 <= 1_024
            && self.contentType?.utf8.count ?? 0 <= 256
    }
}

/// An item, and the position of its source after it.
package struct FeedDelivery: Sendable, Hashable {
    package var item: FeedItem
    /// The source's position, stored together with the item; nil if the source has none.
    package var position: [UInt8]?

    package init(_ item: FeedItem, position: [UInt8]? = nil) {
        self.item = item
        self.position = position
    }
}

/// The core's answer to the source of an item. Only ``stored(_:)`` and ``duplicate(_:)`` mean that the item is durable.
package enum FeedReceipt: Sendable, Hashable {
    /// The item is in the inbox, under this event id.
    case stored(EventID)
    /// An item with this id was stored earlier, and is not delivered again.
    case duplicate(EventID)
    /// Feeds fill their share of the inbox: the source may try again when handlers have caught up.
    case full
    /// The id is empty or too long, or the payload too long.
    case refused
    /// The core has ended.
    case closed
}

extension CoreEvent {
    /// The queue that the event belongs to: its chat or its feed. Events of one lane are handled one at a time, in order.
    package var lane: String {
        switch self.content {
        case .feed(let item): Self.lane(ofFeed: item.feed)
        case .message, .commit, .proposal, .call, .joined, .withdrawn, .outcome: self.chatID.rawValue
        }
    }

    /// Returns the lane of a feed; a chat id is hexadecimal, so that it is the id of no chat.
    package static func lane(ofFeed name: String) -> String { "feed/\(name)" }

    /// Whether the event came from a feed.
    var isFeed: Bool { if case .feed = self.content { true } else { false } }
}
