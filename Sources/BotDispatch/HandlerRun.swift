import BotKit
import Logging
import PikaCore

/// How a handler ended.
enum HandlerOutcome: Sendable {
    case returned
    case threw(any Error)
    case timedOut
}

/// One handler at work on one event, against the clock.
struct HandlerRun: Sendable {
    let work: Handler.Work
    let context: BotContext
    let clock: any CoreClock
    let timeoutMilliseconds: Int64

    /// Calls `report` once, with whichever comes first. Returns when the handler has returned, which is later than
    /// its report if it does not heed its cancellation.
    func perform(report: @Sendable (HandlerOutcome) -> Void) async {
        let deadline = clock.nowMilliseconds + timeoutMilliseconds
        await withTaskGroup(of: HandlerOutcome.self) { group in
            group.addTask {
                do {
                    try await work(context)
                    return .returned
                } catch {
                    return .threw(error)
                }
            }
            group.addTask {
                do {
                    try await clock.sleep(untilMilliseconds: deadline)
                    return .timedOut
                } catch {
                    return .threw(error)
                }
            }
            if let first = await group.next() { report(first) }
            group.cancelAll()
        }
    }
}
