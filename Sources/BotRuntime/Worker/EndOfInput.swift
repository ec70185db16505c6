import ServiceLifecycle

/// Runs until the supervisor is gone or has closed the worker's standard input.
struct EndOfInput: Service {
    let channel: SupervisorChannel

    func run() async {
        await cancelWhenGracefulShutdown { await channel.waitForEnd() }
    }
}
