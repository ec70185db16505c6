import CallMedia
import CallWire
import PikaCore
import Synchronization

/// The state that a connection to a call relay shares with its socket.
final class CallRelayLink: Sendable {
    typealias Groups = AsyncThrowingStream<CallMediaGroup, any Error>

    private struct State {
        var channels = CallChannels()
        var isClosed = false
        /// Whether the socket is connected and its greeting was composed: later messages are sent one by one.
        var isOpen = false
        var wasOpen = false
        /// The reason of the last failed attempt or lost connection.
        var failure = "no answer"
        var hasFailed = false
        /// When the connection was lost or first tried, by the monotonic clock; nil while it is open.
        var lostAt: Int64?
        var openings: [UInt16: AsyncThrowingStream<Void, any Error>.Continuation] = [:]
        var subscribers: [UInt16: Groups.Continuation] = [:]

        mutating func removeStreams(of number: UInt16, _ error: AppCoreError? = nil) -> Ending {
            Ending(
                opening: self.openings.removeValue(forKey: number),
                subscriber: self.subscribers.removeValue(forKey: number), error: error)
        }
    }

    /// The end of a channel's streams. Performed outside the lock: it calls the termination handler of the subscriber,
    /// which closes the channel.
    private struct Ending: Sendable {
        let opening: AsyncThrowingStream<Void, any Error>.Continuation?
        let subscriber: Groups.Continuation?
        let error: AppCoreError?

        func perform() {
            self.opening?.finish(throwing: self.error)
            self.subscriber?.finish(throwing: self.error)
        }
    }

    /// Milliseconds without a connection after which it has failed.
    static let patience: Int64 = 30_000
    /// The maximum number of received groups buffered per track; beyond it the oldest are dropped.
    static let backlog = 256
    /// The maximum number of messages about channels that wait for the socket; more than all channels can cause.
    private static let maximumControls = 1_024

    /// Messages that open and close channels, for the task that sends them.
    let controls: AsyncStream<CallClientMessage>
    private let controlContinuation: AsyncStream<CallClientMessage>.Continuation
    private let clock: any CoreClock
    private let state: Mutex<State>

    init(clock: any CoreClock) {
        self.clock = clock
        (self.controls, self.controlContinuation) = AsyncStream.makeStream(
            bufferingPolicy: .bufferingNewest(Self.maximumControls))
        var state = State()
        state.lostAt = clock.monotonicMilliseconds
        self.state = Mutex(state)
    }

    // MARK: Socket

    var owner: CallSocketOwner {
        CallSocketOwner(
            greeting: { self.greeting() }, receive: { self.receive($0) }, changed: { self.changed($0) })
    }

    private func greeting() -> [CallClientMessage] {
        self.state.withLock { state in
            state.isOpen = true
            return state.channels.greeting
        }
    }

    private func changed(_ connection: RelayConnectionState) {
        let now = self.clock.monotonicMilliseconds
        self.state.withLock { state in
            switch connection {
            case .connected:
                state.wasOpen = true
                state.lostAt = nil
            case .retrying(_, let reason):
                state.isOpen = false
                state.failure = reason
                state.hasFailed = true
                state.lostAt = state.lostAt ?? now
            case .connecting, .disconnected: state.isOpen = false
            }
        }
    }

    private func receive(_ message: CallRelayMessage) {
        let ending = self.state.withLock { state -> Ending? in
            switch state.channels.receive(message) {
            case nil: return nil
            case .opened(let number)?:
                state.openings.removeValue(forKey: number)?.finish()
                return nil
            case .received(let number, let group)?:
                state.subscribers[number]?.yield(group)
                return nil
            case .ended(let number)?: return state.removeStreams(of: number)
            case .failed(let number, let reason)?:
                return state.removeStreams(of: number, AppCoreError(.callMediaFailed, reason))
            }
        }
        ending?.perform()
    }

    /// Throws when the first attempt has failed, or the connection was lost for too long.
    func check() throws(AppCoreError) {
        let now = self.clock.monotonicMilliseconds
        let failure: String? = self.state.withLock { state in
            guard let lostAt = state.lostAt else { return nil }
            let isLost = state.hasFailed && !state.wasOpen || now - lostAt >= Self.patience
            return isLost ? state.failure : nil
        }
        if let failure { throw AppCoreError(.callMediaFailed, "the call relay cannot be reached: \(failure)") }
    }

    // MARK: Channels

    /// Opens a channel and returns its number once the relay has confirmed it, however long that takes.
    ///
    /// - Parameter groups: Receives the frames of a subscribed track.
    func open(
        _ role: CallChannels.Role, _ track: CallTrackID, groups: Groups.Continuation? = nil
    ) async throws -> UInt16 {
        let (confirmation, confirming) = AsyncThrowingStream.makeStream(of: Void.self)
        let number = try self.begin(role, track, groups, confirming)
        do { for try await _ in confirmation {} } catch {
            self.close(number)
            throw error
        }
        guard !Task.isCancelled else {
            self.close(number)
            throw CancellationError()
        }
        return number
    }

    private func begin(
        _ role: CallChannels.Role, _ track: CallTrackID, _ groups: Groups.Continuation?,
        _ confirming: AsyncThrowingStream<Void, any Error>.Continuation
    ) throws(AppCoreError) -> UInt16 {
        let opened: (number: UInt16, message: CallClientMessage?)? = self.state.withLock { state in
            guard !state.isClosed, let (number, message) = state.channels.open(role, track) else { return nil }
            state.openings[number] = confirming
            state.subscribers[number] = groups
            return (number, state.isOpen ? message : nil)
        }
        guard let opened else {
            throw AppCoreError(.callMediaFailed, "the connection to the call relay is closed, or has too many tracks")
        }
        if let message = opened.message { self.controlContinuation.yield(message) }
        let number = opened.number
        groups?.onTermination = { _ in self.close(number) }
        return number
    }

    /// Closes a channel; does nothing if it is closed already.
    func close(_ number: UInt16) {
        let (ending, message) = self.state.withLock { state -> (Ending, CallClientMessage?) in
            let message = state.channels.close(number)
            return (state.removeStreams(of: number), state.isOpen ? message : nil)
        }
        ending.perform()
        if let message { self.controlContinuation.yield(message) }
    }

    /// Whether a frame can be sent now. Throws if the channel is closed.
    func canWrite(_ number: UInt16) throws(AppCoreError) -> Bool {
        let (isPublisher, isOpen) = self.state.withLock { ($0.channels.isPublisher(number), $0.isOpen) }
        guard isPublisher else {
            throw AppCoreError(.callMediaFailed, "the track is closed at the call relay")
        }
        return isOpen
    }

    /// Ends everything; further channels are refused.
    func close() {
        let (openings, subscribers) = self.state.withLock { state in
            state.isClosed = true
            state.isOpen = false
            state.channels = CallChannels()
            defer {
                state.openings = [:]
                state.subscribers = [:]
            }
            return (Array(state.openings.values), Array(state.subscribers.values))
        }
        for opening in openings { opening.finish(throwing: CancellationError()) }
        for subscriber in subscribers { subscriber.finish() }
        self.controlContinuation.finish()
    }
}
