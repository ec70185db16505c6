/// HTTP requests that must arrive: kept until the service has answered, also across crashes and outages.
///
/// ```swift
/// let outbox = try context.services.outbox("ratings") { outcome in await ratings.record(outcome) }
/// try await outbox.add(
///     OutboxRequest(request, idempotencyKey: context.idempotencyKey(), expires: context.now + 3_600))
/// ```
///
/// A request is on disk when ``add(_:)`` returns. Every attempt carries the same `Idempotency-Key`, so the service can
/// tell a repeated attempt from a new request. Requests with the same order key are sent one after the other; failed
/// attempts are repeated with exponential back-off until the request expires. Open the outbox in `OnStart`: then
/// requests of an earlier process continue at once.
public actor RequestOutbox {
    /// Sends one attempt, for example with a token pipeline.
    public typealias Send = @Sendable (BotHTTPRequest) async throws(BotError) -> BotHTTPResponse
    /// Learns how a request ended. Called again if the process ends before the end of the request is stored.
    public typealias OnOutcome = @Sendable (OutboxOutcome) async -> Void

    private let bot: String
    private let name: String
    private let records: any SealedRecords
    private let clock: any CoreClock
    private let observe: @Sendable (BotResourceEvent) -> Void
    private let send: Send
    private let onOutcome: OnOutcome
    private let turns = Turns()
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    private var machine: OutboxMachine
    /// The record of each request by its idempotency key.
    private var numbers: [String: Int64] = [:]
    private var nextNumber: Int64 = 0
    private var isLoaded = false
    private var timer: Int64?
    private var generator: any RandomNumberGenerator & Sendable

    package init(
        bot: String, name: String, limits: OutboxLimits, records: any SealedRecords, clock: any CoreClock,
        generator: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        observe: @escaping @Sendable (BotResourceEvent) -> Void = { _ in },
        send: @escaping Send, onOutcome: @escaping OnOutcome
    ) {
        self.bot = bot
        self.name = name
        self.records = records
        self.clock = clock
        self.generator = generator
        self.observe = observe
        self.send = send
        self.onOutcome = onOutcome
        machine = OutboxMachine(limits: limits)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        wake.yield()
    }

    /// The number of requests that wait or are in flight. Throws `BotError.Code.storageFailed`.
    public func count() async throws(BotError) -> Int {
        try await load()
        return machine.entries.count
    }

    /// Adds a request; it is on disk when the call returns. A known idempotency key is ignored.
    ///
    /// Throws `BotError.Code.limitReached` if the outbox is full, `BotError.Code.requestFailed` for a request that has
    /// expired or has a malformed idempotency key, and `BotError.Code.storageFailed`.
    public func add(_ request: OutboxRequest) async throws(BotError) {
        let key = request.idempotencyKey
        guard (1...200).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw BotError(.requestFailed, "the idempotency key must have 1 to 200 visible ASCII characters")
        }
        try await load()
        await turns.begin()
        defer { turns.end() }
        switch machine.admission(request, now: clock.nowMilliseconds) {
        case .known: return
        case .full: throw BotError(.limitReached, "the outbox \(name) is full")
        case .expired: throw BotError(.requestFailed, "the request has expired before it was added")
        case .added: break
        }
        let number = nextNumber
        nextNumber += 1
        let index = OutboxRecord.Index(
            records: machine.entries.compactMap { numbers[$0.id] } + [number], remembered: machine.remembered)
        try await records.write([
            recordKey(number): OutboxRecord.encode(request), indexKey: OutboxRecord.encode(index),
        ])
        numbers[key] = number
        machine.append(OutboxMachine.Entry(request))
        observe(.outboxSize(machine.entries.count))
        wake.yield()
    }

    /// Sends requests until cancellation. Called once, by the runtime.
    package func run() async {
        await withDiscardingTaskGroup { group in
            for await _ in wakes {
                do throws(BotError) { try await load() } catch {
                    // The disk may recover; requests stay on it.
                    group.addTask { await self.sleepAndWake(until: self.clock.nowMilliseconds.clampedAdding(10_000)) }
                    continue
                }
                let now = clock.nowMilliseconds
                for entry in machine.expire(now: now) {
                    group.addTask { await self.finish(entry, .expired) }
                }
                for entry in machine.begin(now: now) { group.addTask { await self.attempt(entry) } }
                if let next = machine.nextTime(after: now), next < timer ?? .max {
                    timer = next
                    group.addTask { await self.sleepAndWake(until: next) }
                }
            }
            group.cancelAll()
        }
    }

    // MARK: Attempts

    private func attempt(_ entry: OutboxMachine.Entry) async {
        var request = entry.request.request
        request.headers.removeAll { $0.name.lowercased() == "idempotency-key" }
        // A quoted string (RFC 8941 §3.3.3).
        let key = entry.id.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        request.headers.append((name: "Idempotency-Key", value: "\"\(key)\""))
        let result: Result<BotHTTPResponse, BotError>
        do throws(BotError) { result = .success(try await send(request)) } catch { result = .failure(error) }
        // The request continues after the next start.
        guard !Task.isCancelled || result.isSuccess else { return }
        let jitter = Double.random(in: 0.5...1, using: &generator)
        switch machine.ended(entry.id, result, now: clock.nowMilliseconds, jitter: jitter) {
        case .finished(let outcome): await finish(entry, outcome)
        case .retry: wake.yield()
        case nil: break
        }
    }

    private func finish(_ entry: OutboxMachine.Entry, _ result: OutboxOutcome.Result) async {
        await onOutcome(OutboxOutcome(request: entry.request, result: result, attempts: entry.attempts))
        await turns.begin()
        machine.finish(entry.id)
        observe(.outboxEnded(BotResourceEvent.RequestEnd(result)))
        observe(.outboxSize(machine.entries.count))
        let number = numbers.removeValue(forKey: entry.id)
        let index = OutboxRecord.Index(
            records: machine.entries.compactMap { numbers[$0.id] }, remembered: machine.remembered)
        var changes: [SealedRecordKey: [UInt8]?] = [indexKey: OutboxRecord.encode(index)]
        if let number { changes[recordKey(number)] = .some(nil) }
        // If this fails, the next change stores the end too; until then a restart repeats the request with its key.
        try? await records.write(changes)
        turns.end()
        wake.yield()
    }

    private func sleepAndWake(until time: Int64) async {
        do { try await clock.sleep(untilMilliseconds: time) } catch { return }
        if timer == time { timer = nil }
        wake.yield()
    }

    // MARK: Records

    private var indexKey: SealedRecordKey { SealedRecordKey(bot: bot, name: "outbox/\(name)") }

    private func recordKey(_ number: Int64) -> SealedRecordKey {
        SealedRecordKey(bot: bot, name: "outbox/\(name)/\(number)")
    }

    private func load() async throws(BotError) {
        guard !isLoaded else { return }
        await turns.begin()
        defer { turns.end() }
        guard !isLoaded else { return }
        guard let bytes = try await records.record(indexKey) else {
            isLoaded = true
            return
        }
        guard let index = OutboxRecord.index(bytes) else { throw .damaged("outbox \(name)") }
        var requests: [OutboxRequest] = []
        var found: [String: Int64] = [:]
        for number in index.records {
            guard let stored = try await records.record(recordKey(number)), let request = OutboxRecord.request(stored)
            else { throw .damaged("outbox \(name)") }
            requests.append(request)
            found[request.idempotencyKey] = number
        }
        machine = OutboxMachine(limits: machine.limits, requests: requests, remembered: index.remembered)
        numbers = found
        nextNumber = (index.records.max() ?? -1).clampedAdding(1)
        isLoaded = true
        observe(.outboxSize(machine.entries.count))
        wake.yield()
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        guard case .success = self else { return false }
        return true
    }
}
