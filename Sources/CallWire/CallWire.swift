/// The framing between a client and a call relay: one message in each binary WebSocket message, numbers in network byte
/// order (docs/calls.md).
package enum CallWire {
    /// The path of the WebSocket; a later version of the framing gets another one.
    package static let path = "/calls"
    /// The maximum size of a group's payload in bytes: a piece of data of 1 MiB, sealed.
    package static let maximumPayload = (1 << 20) + 51
    /// Type, channel and sequence before a group's payload.
    package static let groupHeader = 11
    /// The maximum size of a message in bytes.
    package static let maximumMessage = groupHeader + maximumPayload

    /// The types of messages.
    enum Kind: UInt8 {
        case publish = 0x01
        case subscribe = 0x02
        case close = 0x03
        case group = 0x04
        case ready = 0x11
        case ended = 0x12
        case refused = 0x13
    }
}

/// One frame of a track, sealed for the other side of the call; the relay does not interpret it.
package struct CallGroup: Sendable, Hashable {
    /// The number of the frame within its track, as the publisher wrote it.
    package var sequence: UInt64
    /// 1 to ``CallWire/maximumPayload`` bytes.
    package var payload: [UInt8]

    package init(sequence: UInt64, payload: [UInt8]) {
        self.sequence = sequence
        self.payload = payload
    }
}

/// A message to a call relay. Channels are numbered by the client, for its own connection.
package enum CallClientMessage: Sendable, Hashable {
    /// Opens a channel that writes a track. The newest publisher of a track replaces the one before.
    case publish(channel: UInt16, CallTrackID)
    /// Opens a channel that reads a track, published now or later.
    case subscribe(channel: UInt16, CallTrackID)
    /// Closes a channel; an unknown one is ignored.
    case close(channel: UInt16)
    /// Sends a frame on a channel that writes; on another one it is ignored.
    case group(channel: UInt16, CallGroup)
}

/// A message of a call relay.
package enum CallRelayMessage: Sendable, Hashable {
    /// The reason why a channel was not opened.
    package enum Refusal: UInt8, Sendable, Hashable, CaseIterable {
        /// The connection has the maximum number of channels.
        case tooManyChannels = 1
        /// The track has the maximum number of subscribers.
        case tooManySubscribers = 2
        /// The relay has the maximum number of tracks.
        case tooManyTracks = 3
        /// The channel is open already.
        case channelInUse = 4
    }

    /// The next frame of a subscribed track.
    case group(channel: UInt16, CallGroup)
    /// The channel may write, or the track that it reads has a publisher now.
    case ready(channel: UInt16)
    /// The publisher of a subscribed track has left, or another one has replaced this client's. Closes the channel.
    case ended(channel: UInt16)
    /// The channel was not opened.
    case refused(channel: UInt16, Refusal)
}
