import Foundation
import Logging
import ServiceLifecycle
import Supervisor
import UnixSignals

/// SIGHUP: the configuration is read anew. Of a terminal that is gone it is the order to end, as ever.
struct HangupSignals: Service {
    let signals: UnixSignalsSequence
    let reloader: ConfigurationReloader
    let supervisor: Supervisor<ContinuousClock>
    let logger: Logger

    func run() async throws {
        let isInTerminal = isatty(STDIN_FILENO) == 1
        try await untilShutdown {
            for await _ in signals {
                if isInTerminal {
                    logger.notice("The terminal is gone: draining")
                    supervisor.drain()
                } else {
                    await reloader.reloadInTurn()
                }
            }
            // The sequence ends with the task only.
        }
    }
}
