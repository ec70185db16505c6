import CallMedia
import CallWire

/// The channels of one connection to a call relay, across reconnects. Pure.
struct CallChannels: Sendable {
    enum Role: Hashable, Sendable {
        case publisher, subscriber
    }

    /// An effect of a message.
    enum Effect: Hashable, Sendable {
        /// The relay has confirmed the channel for the first time.
        case opened(UInt16)
        case received(UInt16, CallMediaGroup)
        /// The channel is closed: its track has ended.
        case ended(UInt16)
        /// The channel is closed, for this reason.
        case failed(UInt16, reason: String)
    }

    private struct Channel: Sendable {
        let track: CallTrackID
        let role: Role
        var isConfirmed = false
    }

    /// More than a call of 16 tracks can need.
    static let maximum = 64

    private var channels: [UInt16: Channel] = [:]
    private var last: UInt16 = 0

    /// Returns the messages that open all channels again after a reconnect, in order.
    var greeting: [CallClientMessage] {
        self.channels.sorted { $0.key < $1.key }.map { number, channel in
            Self.opening(number, channel.role, channel.track)
        }
    }

    /// Adds a channel; returns nil if there are too many.
    mutating func open(_ role: Role, _ track: CallTrackID) -> (number: UInt16, message: CallClientMessage)? {
        guard self.channels.count < Self.maximum else { return nil }
        // Numbers are used again only after 65,535 others.
        repeat { self.last &+= 1 } while self.channels[self.last] != nil
        self.channels[self.last] = Channel(track: track, role: role)
        return (self.last, Self.opening(self.last, role, track))
    }

    /// Removes a channel; returns the message that closes it, or nil if it is closed already.
    mutating func close(_ number: UInt16) -> CallClientMessage? {
        self.channels.removeValue(forKey: number) == nil ? nil : .close(channel: number)
    }

    /// Whether frames can be written on a channel.
    func isPublisher(_ number: UInt16) -> Bool { self.channels[number]?.role == .publisher }

    /// Applies a message of the relay; one about a closed channel has no effect.
    mutating func receive(_ message: CallRelayMessage) -> Effect? {
        guard let channel = self.channels[message.channel] else { return nil }
        switch message {
        case .group(let number, let group):
            guard channel.role == .subscriber else { return nil }
            return .received(number, CallMediaGroup(sequence: group.sequence, payload: group.payload))
        case .ready(let number):
            guard !channel.isConfirmed else { return nil }
            self.channels[number]?.isConfirmed = true
            return .opened(number)
        case .ended(let number):
            self.channels[number] = nil
            return channel.role == .subscriber
                ? .ended(number) : .failed(number, reason: "another connection publishes the call's track")
        // A channel is opened again after a reconnect, perhaps while its first message was still queued.
        case .refused(_, .channelInUse): return nil
        case .refused(let number, let reason):
            self.channels[number] = nil
            return .failed(number, reason: "the call relay has refused: \(reason.text)")
        }
    }

    private static func opening(_ number: UInt16, _ role: Role, _ track: CallTrackID) -> CallClientMessage {
        switch role {
        case .publisher: .publish(channel: number, track)
        case .subscriber: .subscribe(channel: number, track)
        }
    }
}

extension CallRelayMessage.Refusal {
    fileprivate var text: String {
        switch self {
        case .tooManyChannels: "too many channels"
        case .tooManySubscribers: "too many subscribers"
        case .tooManyTracks: "too many calls"
        case .channelInUse: "the channel is in use"
        }
    }
}
