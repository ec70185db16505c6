package import Nostr
package import PikaCore

/// An item of a feed, for an external bot.
package struct DaemonFeedItem: Hashable, Sendable {
    package var item: FeedItem
    package var receivedAt: UnixTime

    package init(_ item: FeedItem, receivedAt: UnixTime) {
        self.item = item
        self.receivedAt = receivedAt
    }

    /// The payload is `text` if it is UTF-8, otherwise `payload_base64`.
    var json: JSONObject {
        var object: JSONObject = [
            "type": "feed_item", "feed": .string(self.item.feed), "item_id": .string(self.item.id),
            "event_id": .string(self.item.eventID.hex), "received_at": .integer(self.receivedAt.seconds),
        ]
        object["name"] = self.item.name.map(JSONValue.string)
        object["content_type"] = self.item.contentType.map(JSONValue.string)
        if let text = self.item.text {
            object["text"] = .string(text)
        } else {
            object["payload_base64"] = .string(Base64.encode(self.item.payload))
        }
        return object
    }
}
