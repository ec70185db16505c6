import BotKit
import PikaCore
import Synchronization

/// How a handler ended.
enum HandlerOutcome: Sendable {
    case returned
    case threw(any Error)
    case timedOut
}

/// One handler at work, against the clock.
struct HandlerRun: Sendable {
    let work: @Sendable () async throws -> Void
    let clock: any CoreClock
    let timeoutMilliseconds: Int64
    /// Where the handler runs; nil for anywhere.
    let executor: (any TaskExecutor)?
    /// Counts it while it hangs.
    let hanging: HangingHandlers.Place

    /// Returns with whichever comes first; nil when the caller was cancelled before.
    ///
    /// The handler is cancelled then. One that does not heed it goes on for itself, and nothing waits for it: what it
    /// does to its context comes too late.
    func perform() async -> HandlerOutcome? {
        let (outcomes, report) = AsyncStream.makeStream(of: HandlerOutcome.self)
        let task = Task(executorPreference: executor) {
            do {
                try await work()
                report.yield(.returned)
            } catch { report.yield(.threw(error)) }
            hanging.ended()
        }
        let deadline = clock.nowMilliseconds.addingReportingOverflow(timeoutMilliseconds)
        let first = await withTaskGroup(of: HandlerOutcome?.self) { group in
            group.addTask {
                for await outcome in outcomes { return outcome }
                return nil
            }
            // Without one that is ever reached, only the handler ends it.
            if !deadline.overflow {
                group.addTask {
                    do { try await clock.sleep(untilMilliseconds: deadline.partialValue) } catch { return nil }
                    return .timedOut
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
        task.cancel()
        hanging.leftBehind(nowMilliseconds: clock.nowMilliseconds)
        return first
    }
}
