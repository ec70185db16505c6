import PikaCore
import ServiceLifecycle

/// Reports when the worker is ready, and when it drains.
struct StatusService: Service {
    let core: AppCore
    let lines: WorkerLines

    func run() async throws {
        await cancelWhenGracefulShutdown {
            for await update in core.updates() {
                if case .fullState(let state) = update, state.isReady { break }
            }
            if !Task.isCancelled { lines.ready(core.account) }
        }
        try await gracefulShutdown()
        lines.draining()
    }
}

extension AppState {
    /// Whether others can invite the account and its relays deliver messages: a relay has its key package, and a relay
    /// was read up to its newest event.
    var isReady: Bool {
        hasPublishedKeyPackage && relays.contains { $0.connection == .connected && $0.isCaughtUp }
    }
}
