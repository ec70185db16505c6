import CallWire
import NIOCore
import Synchronization

/// A call connection and the event loop that it runs on.
struct CallHandle: Sendable {
    let eventLoop: any EventLoop
    let connection: NIOLoopBound<CallConnection>
}

/// All call connections of the relay and their tracks.
///
/// Recipients are determined under the lock; messages are passed on after it is released.
final class CallHub: Sendable {
    private struct State {
        var tracks: CallTracks
        var nextConnection: UInt64 = 0
        var handles: [UInt64: CallHandle] = [:]
    }

    private let state: Mutex<State>

    init(limits: CallLimits) {
        self.state = Mutex(State(tracks: CallTracks(limits)))
    }

    var trackCount: Int { self.state.withLock { $0.tracks.count } }

    /// Returns the connection's number.
    func join(_ handle: CallHandle) -> UInt64 {
        self.state.withLock { state in
            state.nextConnection += 1
            state.handles[state.nextConnection] = handle
            return state.nextConnection
        }
    }

    func leave(_ connection: UInt64) {
        self.update { state in
            state.handles[connection] = nil
            return state.tracks.leave(connection).map { ($0.member, $0.message) }
        }
    }

    func hasChannels(_ connection: UInt64) -> Bool { self.state.withLock { $0.tracks.hasChannels(connection) } }

    func open(_ member: CallTracks.Member, _ role: CallTracks.Role, of id: CallTrackID) {
        self.update { $0.tracks.open(member, role, of: id).map { ($0.member, $0.message) } }
    }

    func close(_ member: CallTracks.Member) {
        self.update { $0.tracks.close(member).map { ($0.member, $0.message) } }
    }

    /// Passes a frame to the subscribers of the channel's track.
    func forward(_ group: CallGroup, from member: CallTracks.Member) {
        self.update { state in
            state.tracks.subscribers(of: member).map { ($0, .group(channel: $0.channel, group)) }
        }
    }

    private func update(_ change: (inout State) -> [(CallTracks.Member, CallRelayMessage)]) {
        let deliveries = self.state.withLock { state in
            change(&state).compactMap { member, message in
                state.handles[member.connection].map { ($0, message) }
            }
        }
        for (handle, message) in deliveries {
            handle.eventLoop.execute { handle.connection.value.deliver(message) }
        }
    }
}
