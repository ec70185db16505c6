import PikaCore
import Synchronization

/// An in-process media relay: accounts that share it exchange call media without loss or delay.
package final class CallLoopback: CallMediaTransport {
    fileprivate struct Place: Hashable {
        let url: String
        let address: CallTrackAddress
    }

    private struct State {
        var next = 0
        /// The publishing connection of each place.
        var published: [Place: Int] = [:]
        var subscribers: [Place: [Int: AsyncThrowingStream<CallMediaGroup, any Error>.Continuation]] = [:]
        var waiting: [Place: [Int: AsyncStream<Void>.Continuation]] = [:]

        mutating func number() -> Int {
            self.next += 1
            return self.next
        }
    }

    private let prefix: String
    private let state = Mutex(State())
    /// The maximum number of groups buffered per subscriber; beyond it the oldest are dropped.
    private static let backlog = 256

    /// - Parameter prefix: addresses without this prefix are refused.
    package init(prefix: String = "") {
        self.prefix = prefix
    }

    package func connect(to url: String) async throws -> any CallMediaConnection {
        guard url.hasPrefix(self.prefix) else {
            throw AppCoreError(.callMediaFailed, "no media transport supports \(url)")
        }
        return LoopbackConnection(loopback: self, url: url, number: self.state.withLock { $0.number() })
    }

    fileprivate func publish(_ place: Place, by connection: Int) {
        let waiting = self.state.withLock { state in
            state.published[place] = connection
            return state.waiting.removeValue(forKey: place) ?? [:]
        }
        for waiter in waiting.values { waiter.finish() }
    }

    fileprivate func write(_ group: CallMediaGroup, to place: Place, by connection: Int) throws {
        let subscribers = self.state.withLock { state in
            state.published[place] == connection ? state.subscribers[place, default: [:]] : nil
        }
        guard let subscribers else { throw AppCoreError(.callMediaFailed, "the connection is closed") }
        for subscriber in subscribers.values { subscriber.yield(group) }
    }

    fileprivate func subscribe(_ place: Place) async throws -> AsyncThrowingStream<CallMediaGroup, any Error> {
        let (announcement, announcing) = AsyncStream.makeStream(of: Void.self)
        let (stream, continuation) = AsyncThrowingStream.makeStream(
            of: CallMediaGroup.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        // Registered before the announcement, so that it misses neither a group nor the end of a short broadcast.
        let number = self.state.withLock { state in
            let number = state.number()
            state.subscribers[place, default: [:]][number] = continuation
            if state.published[place] == nil {
                state.waiting[place, default: [:]][number] = announcing
            } else {
                announcing.finish()
            }
            return number
        }
        continuation.onTermination = { _ in
            self.state.withLock { _ = $0.subscribers[place]?.removeValue(forKey: number) }
        }
        for await _ in announcement {}
        self.state.withLock { $0.waiting[place]?[number] = nil }
        guard !Task.isCancelled else {
            continuation.finish()
            throw CancellationError()
        }
        return stream
    }

    fileprivate func close(_ connection: Int) {
        let ended = self.state.withLock { state in
            let places = state.published.filter { $0.value == connection }.keys
            return places.flatMap { place in
                state.published[place] = nil
                return Array((state.subscribers.removeValue(forKey: place) ?? [:]).values)
            }
        }
        for subscriber in ended { subscriber.finish() }
    }
}

private struct LoopbackConnection: CallMediaConnection {
    let loopback: CallLoopback
    let url: String
    let number: Int

    func publish(_ address: CallTrackAddress) async throws -> any CallTrackWriter {
        let place = CallLoopback.Place(url: self.url, address: address)
        self.loopback.publish(place, by: self.number)
        return LoopbackWriter(loopback: self.loopback, place: place, connection: self.number)
    }

    func subscribe(_ address: CallTrackAddress) async throws -> AsyncThrowingStream<CallMediaGroup, any Error> {
        try await self.loopback.subscribe(CallLoopback.Place(url: self.url, address: address))
    }

    func close() async { self.loopback.close(self.number) }
}

private struct LoopbackWriter: CallTrackWriter {
    let loopback: CallLoopback
    let place: CallLoopback.Place
    let connection: Int

    func write(_ group: CallMediaGroup) async throws {
        try self.loopback.write(group, to: self.place, by: self.connection)
    }
}
