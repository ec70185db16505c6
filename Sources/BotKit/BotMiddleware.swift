/// Code around every handler of a bot: it runs before and after the handler, for each trigger that a handler accepts.
///
/// ```swift
/// BotMiddleware { context, next in
///     guard isAwake(context.now) else { return }  // the handler does not run
///     try await next()
///     context.setText("\(context.now)", forKey: "last")
/// }
/// ```
///
/// Its effects are committed with those of the handler. An error that it throws counts as the handler's.
public struct BotMiddleware: Sendable {
    /// Runs the next middleware, or finally the handler. Call it at most once.
    public typealias Next = @Sendable () async throws -> Void

    private let body: @Sendable (BotContext, Next) async throws -> Void

    /// Creates middleware. It may replace the handler by not calling `next`.
    public init(_ body: @escaping @Sendable (_ context: BotContext, _ next: Next) async throws -> Void) {
        self.body = body
    }

    /// Wraps a handler's work in middleware, outermost first.
    package static func wrap(_ work: @escaping Handler.Work, in middleware: [BotMiddleware]) -> Handler.Work {
        middleware.reversed().reduce(work) { inner, outer in
            { context in try await outer.body(context) { try await inner(context) } }
        }
    }
}
