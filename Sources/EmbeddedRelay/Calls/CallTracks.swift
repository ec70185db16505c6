import CallWire

/// The tracks of all call connections: publishers, subscribers, and the tracks that are awaited. Pure.
///
/// Bounded by ``CallLimits``: each entry belongs to an open channel, and a track without channels is forgotten.
struct CallTracks: Sendable {
    /// A channel of a connection.
    struct Member: Hashable, Sendable {
        let connection: UInt64
        let channel: UInt16
    }

    enum Role: Hashable, Sendable {
        case publisher, subscriber
    }

    /// A message for a member.
    struct Notice: Hashable, Sendable {
        enum Content: Hashable, Sendable {
            case ready, ended
            case refused(CallRelayMessage.Refusal)
        }

        let member: Member
        let content: Content

        var message: CallRelayMessage {
            switch self.content {
            case .ready: .ready(channel: self.member.channel)
            case .ended: .ended(channel: self.member.channel)
            case .refused(let reason): .refused(channel: self.member.channel, reason)
            }
        }
    }

    private struct Track: Sendable {
        var publisher: Member?
        /// In the order of their arrival.
        var subscribers: [Member] = []

        var isEmpty: Bool { self.publisher == nil && self.subscribers.isEmpty }
    }

    private struct Channel: Sendable {
        let track: CallTrackID
        let role: Role
    }

    private let limits: CallLimits
    private var tracks: [CallTrackID: Track] = [:]
    private var connections: [UInt64: [UInt16: Channel]] = [:]

    init(_ limits: CallLimits) {
        self.limits = limits
    }

    /// The number of tracks, published or awaited.
    var count: Int { self.tracks.count }

    func hasChannels(_ connection: UInt64) -> Bool { self.connections[connection]?.isEmpty == false }

    /// Opens a channel, or refuses it; returns the notices of all members concerned.
    mutating func open(_ member: Member, _ role: Role, of id: CallTrackID) -> [Notice] {
        if let refusal = self.refusal(member, role, of: id) {
            return [Notice(member: member, content: .refused(refusal))]
        }
        self.connections[member.connection, default: [:]][member.channel] = Channel(track: id, role: role)
        var track = self.tracks[id] ?? Track()
        defer { self.tracks[id] = track }
        guard role == .publisher else {
            track.subscribers.append(member)
            return track.publisher == nil ? [] : [Notice(member: member, content: .ready)]
        }
        // The newest wins: after a lost connection the old one may seem alive for a while.
        let before = track.publisher
        track.publisher = member
        var notices = [Notice(member: member, content: .ready)]
        if let before {
            self.connections[before.connection]?[before.channel] = nil
            notices.append(Notice(member: before, content: .ended))
        } else {
            notices += track.subscribers.map { Notice(member: $0, content: .ready) }
        }
        return notices
    }

    private func refusal(_ member: Member, _ role: Role, of id: CallTrackID) -> CallRelayMessage.Refusal? {
        let channels = self.connections[member.connection] ?? [:]
        guard channels[member.channel] == nil else { return .channelInUse }
        guard channels.count < self.limits.channelsPerConnection else { return .tooManyChannels }
        guard let track = self.tracks[id] else {
            return self.tracks.count < self.limits.tracks ? nil : .tooManyTracks
        }
        guard role == .publisher || track.subscribers.count < self.limits.subscribersPerTrack else {
            return .tooManySubscribers
        }
        return nil
    }

    /// Closes a channel, if it is open. The subscribers of a track that loses its publisher are told, and closed too.
    mutating func close(_ member: Member) -> [Notice] {
        guard let channel = self.connections[member.connection]?.removeValue(forKey: member.channel) else { return [] }
        return self.remove(member, from: channel.track)
    }

    /// Closes all channels of a connection that has ended.
    mutating func leave(_ connection: UInt64) -> [Notice] {
        let channels = self.connections.removeValue(forKey: connection) ?? [:]
        return channels.sorted { $0.key < $1.key }.flatMap { number, channel in
            self.remove(Member(connection: connection, channel: number), from: channel.track)
        }.filter { $0.member.connection != connection }
    }

    private mutating func remove(_ member: Member, from id: CallTrackID) -> [Notice] {
        guard var track = self.tracks[id] else { return [] }
        defer { self.tracks[id] = track.isEmpty ? nil : track }
        guard track.publisher == member else {
            track.subscribers.removeAll { $0 == member }
            return []
        }
        track.publisher = nil
        let subscribers = track.subscribers
        track.subscribers = []
        for subscriber in subscribers { self.connections[subscriber.connection]?[subscriber.channel] = nil }
        return subscribers.map { Notice(member: $0, content: .ended) }
    }

    /// Returns the members that get a frame written on a channel; none unless the channel publishes.
    func subscribers(of member: Member) -> [Member] {
        guard let channel = self.connections[member.connection]?[member.channel], channel.role == .publisher
        else { return [] }
        return self.tracks[channel.track]?.subscribers ?? []
    }
}
