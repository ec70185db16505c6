import NIOCore
import Synchronization

/// The channels of one connection attempt, for a timeout or a cancellation to close.
final class ConnectionAttempt: Sendable {
    private struct State {
        /// Several for a host with several addresses; all but one are closed soon.
        var channels: [any Channel] = []
        var timers: [Scheduled<Void>] = []
        var isOver = false
        var error: (any Error)?
    }

    private let state = Mutex(State())

    func began(_ channel: any Channel, timeout: TimeAmount) {
        let timer = channel.eventLoop.scheduleTask(in: timeout) { self.close(WebSocketConnector.TimedOut()) }
        let isLate = state.withLock { state in
            state.channels.append(channel)
            state.timers.append(timer)
            return state.isOver
        }
        guard isLate else { return }
        timer.cancel()
        channel.close(promise: nil)
    }

    func succeeded() {
        let timers = state.withLock { state in
            state.isOver = true
            state.channels = []
            return state.timers
        }
        for timer in timers { timer.cancel() }
    }

    func cancel() {
        close(CancellationError())
    }

    /// Returns the error to report: this one, unless a timeout or a cancellation made the attempt fail.
    func end(_ error: any Error) -> any Error {
        close(error)
        return state.withLock { $0.error } ?? error
    }

    private func close(_ error: any Error) {
        let (channels, timers) = state.withLock { state -> ([any Channel], [Scheduled<Void>]) in
            if !state.isOver { state.error = error }
            state.isOver = true
            defer { state.channels = [] }
            return (state.channels, state.timers)
        }
        for timer in timers { timer.cancel() }
        for channel in channels { channel.close(promise: nil) }
    }
}
