import Foundation
import Logging
import ServiceLifecycle
import Supervisor
import UnixSignals

/// Reloads the configuration on SIGHUP. A hangup of the terminal ends the program, as usual.
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
                    logger.notice("Terminal closed; draining")
                    supervisor.drain()
                } else {
                    await reloader.requestReload()
                }
            }
            // The sequence ends only with the task.
        }
    }
}
