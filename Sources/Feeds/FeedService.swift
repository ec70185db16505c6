package import FeedRules
package import Logging
package import PikaCore
import RelayClient
import ServiceLifecycle

/// Runs an account's feeds until a graceful shutdown or cancellation. A failing source never ends it.
package struct FeedService: Service {
    private let plans: [FeedPlan]
    /// The address of the webhook listener; nil without webhook feeds.
    private let listen: WebhookAddress?
    private let sink: any FeedSink
    private let monitor: FeedMonitor
    private let clock: any CoreClock
    private let logger: Logger

    package init(
        _ plans: [FeedPlan], listen: WebhookAddress?, sink: any FeedSink, monitor: FeedMonitor, clock: any CoreClock,
        logger: Logger
    ) {
        self.plans = plans
        self.listen = listen
        self.sink = sink
        self.monitor = monitor
        self.clock = clock
        self.logger = logger
    }

    package func run() async throws {
        monitor.announceMetrics()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                group.addTask { await listenForWebhooks() }
                for plan in plans {
                    guard let driver = driver(of: plan) else { continue }
                    group.addTask {
                        let outlet = FeedOutlet(plan, sink: sink, monitor: monitor, clock: clock)
                        await supervision.run([plan.name]) { try await driver.run(outlet) }
                    }
                }
            }
            // The sources ended because the core has: it reports the reason itself.
            try? await gracefulShutdown()
        }
    }

    private var supervision: FeedSupervision { FeedSupervision(monitor: monitor, clock: clock, logger: logger) }

    /// Returns the driver of a feed; nil for a webhook, which the listener serves.
    private func driver(of plan: FeedPlan) -> (any FeedDriver)? {
        switch plan.source {
        case .webhook: nil
        case .webSocket(let settings): WebSocketDriver(settings, dial: WebSocketDial())
        case .poll(let settings): PollDriver(settings)
        case .sse(let settings): EventStreamDriver(settings)
        case .directory(let settings): DirectoryDriver(settings)
        case .program(let settings): ProgramDriver(settings)
        }
    }

    private func listenForWebhooks() async {
        var gates: [String: WebhookGate] = [:]
        for plan in plans {
            guard case .webhook(let settings) = plan.source else { continue }
            gates[plan.name] = WebhookGate(
                settings, outlet: FeedOutlet(plan, sink: sink, monitor: monitor, clock: clock))
        }
        guard let listen, !gates.isEmpty else { return }
        let server = WebhookServer(listen, gates: gates, clock: clock, logger: logger)
        let names = gates.keys.sorted()
        await supervision.run(names) {
            try await server.run { for name in names { monitor.enter(.connected, name) } }
        }
    }
}
