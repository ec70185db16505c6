/// What a command on the control socket is answered with.
public enum ControlReply: Sendable {
    /// One line, `{"result":…}`.
    case result(ControlValue)
    /// The same of a command that ends the server too: what follows is done once the line is written.
    case last(ControlValue, then: @Sendable () -> Void)
    /// One line, `{"error":{"code":…,"message":…}}`.
    case failure(code: String, message: String)
    /// A line for each, as they come, until the client hangs up.
    case lines(AsyncStream<WorkerLog.Line>)

    public static func failure(_ error: SupervisorError) -> ControlReply {
        .failure(code: error.code.description, message: error.message)
    }

    static func badRequest(_ message: String) -> ControlReply { .failure(code: "badRequest", message: message) }
}
