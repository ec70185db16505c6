import Logging
import PikaCore
import Synchronization

@testable import FeedRules
@testable import Feeds

/// An inbox that answers as told, and then stores everything once.
final class FakeSink: FeedSink {
    private struct State {
        var scripted: [FeedReceipt] = []
        var items: [FeedItem] = []
        var positions: [String: [UInt8]] = [:]
    }

    private let state: Mutex<State>

    init(_ scripted: FeedReceipt...) {
        state = Mutex(State(scripted: scripted))
    }

    var items: [FeedItem] { state.withLock { $0.items } }
    var texts: [String] { items.map { $0.text ?? "?" } }

    func receive(_ delivery: FeedDelivery) async -> FeedReceipt {
        state.withLock { state in
            if !state.scripted.isEmpty {
                let receipt = state.scripted.removeFirst()
                guard case .stored = receipt else { return receipt }
            }
            let item = delivery.item
            if let position = delivery.position { state.positions[item.feed] = position }
            guard !state.items.contains(where: { $0.feed == item.feed && $0.id == item.id }) else {
                return .duplicate(item.eventID)
            }
            state.items.append(item)
            return .stored(item.eventID)
        }
    }

    func position(ofFeed name: String) async throws -> [UInt8]? { state.withLock { $0.positions[name] } }
}

/// One feed with its outlet.
struct FeedBench {
    let plan: FeedPlan
    let sink: FakeSink
    let monitor: FeedMonitor
    let outlet: FeedOutlet

    init(_ source: FeedPlan.Source, sink: FakeSink, clock: any CoreClock, maximumBytes: Int = 64) {
        plan = FeedPlan(name: "orders", source: source, maximumBytes: maximumBytes)
        self.sink = sink
        monitor = FeedMonitor([plan], clock: clock)
        outlet = FeedOutlet(plan, sink: sink, monitor: monitor, clock: clock)
    }

    var status: FeedStatus {
        guard let status = monitor.statuses.first else { preconditionFailure("the bench has one feed") }
        return status
    }
}

let silentLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

/// Lets other tasks run until a condition holds.
func letOthersRun(until condition: () -> Bool) async {
    while !condition(), !Task.isCancelled { await Task.yield() }
}
