import Errors

/// Reply to a command on the control socket.
package enum ControlReply: Sendable {
    /// One line, `{"result":…}`.
    case result(ControlValue)
    /// Like `result`, for a command that ends the server; `then` runs once the line is written.
    case last(ControlValue, then: @Sendable () -> Void)
    /// One line, `{"error":{"code":…,"message":…}}`.
    case failure(code: String, message: String)
    /// A stream of lines, until the client hangs up.
    case lines(AsyncStream<WorkerLog.Line>)

    package static func failure(_ error: SupervisorError) -> ControlReply {
        .failure(code: error.code.description, message: error.message)
    }

    static func badRequest(_ message: String) -> ControlReply { .failure(code: "badRequest", message: message) }
}
