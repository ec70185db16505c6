import Logging
import Metrics
import Nostr
import PikaCore
import RelayClient
import ServiceLifecycle

/// The part of the relay connections that canaries need.
protocol CanaryTransport: Sendable {
    /// Returns the updates of a subscription, including the end of stored events; ends with the subscription.
    func listen(_ subscription: RelaySubscription) async -> AsyncStream<RelayUpdate>
    func stopListening(to id: String) async
    func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport>
}

extension RelayPool: CanaryTransport {}

/// Sends canaries through each configured relay, and measures how long they take to return from it.
struct CanaryService: Service {
    let relays: ConfiguredRelays
    let interval: Duration
    let budget: Duration
    let transport: any CanaryTransport
    let clock: any CoreClock
    let canaryResults: CanaryResults
    let generator: any RandomNumberGenerator & Sendable
    let logger: Logger

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try await withThrowingDiscardingTaskGroup { group in
                    for (index, relay) in relays.current.enumerated() {
                        group.addTask {
                            var watch = RelayCanary(service: self, relay: relay, id: "canary-\(index)")
                            await watch.run()
                        }
                    }
                    for await _ in relays.changes { break }
                    group.cancelAll()
                }
            }
        }
    }
}

/// The running canary of one relay.
struct RelayCanary {
    private enum Input: Sendable {
        case update(RelayUpdate)
        case report(EventID, PublishReport.Outcome)
        case timer(Canary.Timer)
    }

    let service: CanaryService
    let relay: RelayURL
    let id: String
    private var canary: Canary
    private var events: CanaryEvents
    private var generator: any RandomNumberGenerator & Sendable
    private let inputs: AsyncStream<Input>
    private let nextInput: AsyncStream<Input>.Continuation
    private let roundTrip: Metrics.Timer
    private let failures: [Canary.Failure: Counter]

    init(service: CanaryService, relay: RelayURL, id: String) {
        self.service = service
        self.relay = relay
        self.id = id
        canary = Canary(
            interval: Int64(service.interval / .milliseconds(1)), budget: Int64(service.budget / .milliseconds(1)))
        generator = service.generator
        events = CanaryEvents(budget: service.budget, using: &generator)
        (inputs, nextInput) = AsyncStream.makeStream()
        roundTrip = Metrics.Timer(
            label: "bot_canary_roundtrip_seconds", dimensions: [("relay", relay.authority)])
        let failures = Canary.Failure.allCases.map { ($0, Self.counter(of: $0, at: relay)) }
        self.failures = Dictionary(uniqueKeysWithValues: failures)
    }

    /// Runs until the task is cancelled.
    mutating func run() async {
        let updates = await service.transport.listen(events.subscription(id, at: relay))
        await withDiscardingTaskGroup { group in
            let nextInput = nextInput
            group.addTask { for await update in updates { nextInput.yield(.update(update)) } }
            await perform(canary.begin(now: service.clock.nowMilliseconds), &group)
            for await input in inputs { await perform(handle(input), &group) }
            group.cancelAll()
        }
        await service.transport.stopListening(to: id)
    }

    private mutating func handle(_ input: Input) -> [Canary.Action] {
        let now = service.clock.nowMilliseconds
        switch input {
        case .update(.event(_, _, let event)): return canary.returned(event.id, now: now)
        case .update(.endOfStoredEvents): return canary.becameLive(now: now)
        case .update(.closed(_, _, let message)):
            canary.closed(message)
            return []
        case .update(.state), .update(.refused), .update(.clock): return []
        case .report(let event, let outcome): return canary.reported(event, outcome)
        case .timer(let timer): return canary.elapsed(timer, now: now)
        }
    }

    private mutating func perform(_ actions: [Canary.Action], _ group: inout DiscardingTaskGroup) async {
        for action in actions {
            switch action {
            case .send(let form): await send(form, &group)
            case .wake(let timer, let time):
                let (clock, nextInput) = (service.clock, nextInput)
                group.addTask {
                    do { try await clock.sleep(untilMilliseconds: time) } catch { return }
                    nextInput.yield(.timer(timer))
                }
            case .finish(let outcome): note(outcome)
            }
        }
    }

    private mutating func send(_ form: Canary.Form, _ group: inout DiscardingTaskGroup) async {
        let now = service.clock.nowMilliseconds
        let event = events.make(form, now: UnixTime(milliseconds: now), using: &generator)
        canary.sent(event.id, form, now: now)
        let reports = await service.transport.publish(event, to: [relay])
        let nextInput = nextInput
        group.addTask { for await report in reports { nextInput.yield(.report(event.id, report.outcome)) } }
    }

    private static func counter(of failure: Canary.Failure, at relay: RelayURL) -> Counter {
        Counter(
            label: "bot_canary_failures_total",
            dimensions: [("relay", relay.authority), ("reason", failure.rawValue)])
    }

    private func note(_ outcome: Canary.Outcome) {
        service.canaryResults.note(outcome, of: relay, at: service.clock.nowMilliseconds)
        switch outcome {
        case .returned(let milliseconds): roundTrip.recordMilliseconds(milliseconds)
        case .failed(let failure, let detail):
            failures[failure]?.increment()
            service.logger.warning(
                "Canary did not come back",
                metadata: [
                    "relay": "\(relay.authority)", "reason": "\(failure.rawValue)", "detail": "\(detail.prefix(200))",
                ])
        }
    }
}
