/// A function that is called after a handler has failed: it may reply to the user, and may declare the error handled.
///
/// ```swift
/// var errorHandlers: [BotErrorHandler] {
///     [.reply(to: OutOfStock.self) { "Sorry, the \($0.dish) is sold out." }]
/// }
/// ```
///
/// The effects of the failed handler are dropped; those of an error handler are committed. The first error handler that
/// returns ``Verdict/handled`` is the last one called. If none does, the error is logged and counted
/// (`bot_handler_errors_total`). A handler that exceeds its deadline fails with `BotError.Code.timedOut`.
public struct BotErrorHandler: Sendable {
    /// Whether an error handler has handled an error.
    public enum Verdict: Sendable, Hashable {
        /// Ends the error handling: later error handlers, log and metrics are skipped.
        case handled
        /// Passes the error to the next error handler, and finally to log and metrics.
        case passOn
    }

    private let body: @Sendable (any Error, BotContext) async throws -> Verdict

    /// Creates an error handler. If it throws, its effects are dropped and the error is passed on.
    public init(_ body: @escaping @Sendable (_ error: any Error, _ context: BotContext) async throws -> Verdict) {
        self.body = body
    }

    /// Returns an error handler that replies to errors of one type with the result of `text`; nil passes the error on.
    public static func reply<Failure: Error>(
        to type: Failure.Type, _ text: @escaping @Sendable (Failure) -> String?
    ) -> BotErrorHandler {
        BotErrorHandler { error, context in
            guard let error = error as? Failure, let text = text(error) else { return .passOn }
            context.reply(text)
            return .handled
        }
    }

    package func handle(_ error: any Error, _ context: BotContext) async throws -> Verdict {
        try await body(error, context)
    }
}
