package import FeedRules
package import PikaCore

/// The inbox, as feeds need it.
package protocol FeedSink: Sendable {
    /// Stores an item once; returns when that is durable.
    func receive(_ delivery: FeedDelivery) async -> FeedReceipt
    /// Returns the position that was stored with the newest item of a feed; nil if there is none.
    func position(ofFeed name: String) async throws -> [UInt8]?
}

extension AppCore: FeedSink {}

/// The way of one feed's items from its driver into the inbox.
package struct FeedOutlet: Sendable {
    /// The result of an item.
    package enum Result: Sendable, Hashable {
        /// The item is durable.
        case stored
        /// The item exceeds a limit, and was counted as an error.
        case dropped
    }

    /// The wait in milliseconds before an item is offered to a full inbox again.
    static let fullWait: Int64 = 5_000

    package let feed: String
    package let maximumBytes: Int
    let sink: any FeedSink
    package let monitor: FeedMonitor
    package let clock: any CoreClock

    package init(_ plan: FeedPlan, sink: any FeedSink, monitor: FeedMonitor, clock: any CoreClock) {
        feed = plan.name
        maximumBytes = plan.maximumBytes
        self.sink = sink
        self.monitor = monitor
        self.clock = clock
    }

    /// Records that the source works.
    package func connected() { monitor.enter(.connected, feed) }

    /// Returns the position that was stored with the newest item; nil if there is none.
    package func position() async throws -> [UInt8]? { try await sink.position(ofFeed: feed) }

    /// Stores an item; waits while the inbox is full, so that the source is not read meanwhile. Throws
    /// `CancellationError` when the task is cancelled or the core has ended.
    package func deliver(_ item: FeedItem, position: [UInt8]? = nil) async throws -> Result {
        guard item.payload.count <= maximumBytes else {
            monitor.note(feed, FeedError(.tooLarge, "an item exceeds \(maximumBytes) bytes"))
            return .dropped
        }
        var isWaiting = false
        while true {
            switch await sink.receive(FeedDelivery(item, position: position)) {
            case .stored:
                monitor.receive(.stored, feed)
                return .stored
            case .duplicate:
                monitor.receive(.duplicate, feed)
                return .stored
            case .refused:
                monitor.note(feed, FeedError(.tooLarge, "an item exceeds the limits of the inbox"))
                return .dropped
            case .full:
                if !isWaiting { monitor.note(feed, FeedError(.full, "too many items wait for their handlers")) }
                isWaiting = true
                try await clock.sleep(milliseconds: Self.fullWait)
            case .closed: throw CancellationError()
            }
        }
    }

    /// Returns an item of the feed.
    package func item(id: String, _ payload: [UInt8], name: String? = nil, contentType: String? = nil) -> FeedItem {
        FeedItem(feed: feed, id: id, payload: payload, name: name, contentType: contentType)
    }
}

extension CoreClock {
    /// Sleeps for a while by the monotonic clock; throws only when the task is cancelled.
    func sleep(milliseconds: Int64) async throws {
        let (time, overflow) = monotonicMilliseconds.addingReportingOverflow(max(0, milliseconds))
        try await sleep(untilMonotonicMilliseconds: overflow ? .max : time)
    }

    /// Runs a function under a deadline. Throws `FeedError.Code.unreachable` at the deadline.
    func within<Value: Sendable>(
        milliseconds: Int64, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await self.sleep(milliseconds: milliseconds)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw FeedError(.unreachable, "no answer within \(milliseconds / 1_000) s")
            }
            return value
        }
    }
}
