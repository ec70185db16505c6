import BotKit
import PikaCore
import Synchronization

/// The outcome of a handler's run.
enum HandlerOutcome: Sendable {
    case returned
    case threw(any Error)
    case timedOut
}

/// A run of a handler under a deadline.
struct HandlerRun: Sendable {
    let work: @Sendable () async throws -> Void
    let clock: any CoreClock
    let timeoutMilliseconds: Int64
    /// The executor that runs the handler; nil for the default one.
    let executor: (any TaskExecutor)?
    /// Counts the handler while it hangs.
    let hanging: HangingHandlers.Slot

    /// Runs the handler until it ends or exceeds its deadline, whichever is first; returns nil if the caller is
    /// cancelled before that.
    ///
    /// At the deadline the handler is cancelled. If it ignores that, it continues in the background and nothing waits
    /// for it: its context is closed by then.
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
            // If the deadline overflows, the handler runs without one.
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
        hanging.abandoned(nowMilliseconds: clock.nowMilliseconds)
        return first
    }
}
