import CallMedia
import CallWire
import PikaCore

/// A connection to a call relay: tracks published and subscribed on one socket, and opened again after a reconnect.
///
/// Frames written while there is no connection, or while the socket's queue is full, are dropped: late media is useless.
struct CallRelayConnection: CallMediaConnection {
    /// Milliseconds between checks of a lost connection.
    private static let checkInterval: Int64 = 500

    private let link: CallRelayLink
    private let socket: any CallSocket
    private let clock: any CoreClock

    init(clock: any CoreClock, _ makeSocket: (CallSocketOwner) throws -> any CallSocket) rethrows {
        self.clock = clock
        self.link = CallRelayLink(clock: clock)
        self.socket = try makeSocket(self.link.owner)
    }

    func run() async throws {
        try await withThrowingTaskGroup { group in
            group.addTask { await self.socket.run() }
            group.addTask { for await message in self.link.controls { _ = await self.socket.send(message) } }
            group.addTask {
                while true {
                    try await self.clock.sleep(
                        untilMonotonicMilliseconds: self.clock.monotonicMilliseconds + Self.checkInterval)
                    try self.link.check()
                }
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    func publish(_ address: CallTrackAddress) async throws -> any CallTrackWriter {
        CallRelayWriter(
            link: self.link, socket: self.socket, channel: try await self.link.open(.publisher, address.trackID))
    }

    func subscribe(_ address: CallTrackAddress) async throws -> AsyncThrowingStream<CallMediaGroup, any Error> {
        let (groups, continuation) = CallRelayLink.Groups.makeStream(
            bufferingPolicy: .bufferingNewest(CallRelayLink.backlog))
        _ = try await self.link.open(.subscriber, address.trackID, groups: continuation)
        return groups
    }

    func close() async {
        self.link.close()
        await self.socket.stop()
    }
}

/// A published track of a ``CallRelayConnection``.
private struct CallRelayWriter: CallTrackWriter {
    let link: CallRelayLink
    let socket: any CallSocket
    let channel: UInt16

    func write(_ group: CallMediaGroup) async throws {
        guard try self.link.canWrite(self.channel) else { return }
        let frame = CallGroup(sequence: group.sequence, payload: group.payload)
        _ = await self.socket.send(.group(channel: self.channel, frame))
    }
}

extension CallTrackAddress {
    /// The id at a call relay: a hash, so that the relay learns neither call nor participants (docs/calls.md).
    var trackID: CallTrackID {
        let hash = CallAuthorization.hash("pikabot.call.track.v1", Array(self.path.utf8), Array(self.track.utf8))
        guard let id = CallTrackID(hash) else { preconditionFailure("a SHA-256 hash has 32 bytes") }
        return id
    }
}
