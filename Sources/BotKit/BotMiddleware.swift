/// Stands around every handler of a bot: it sees each trigger that a handler takes, before and after.
///
/// ```swift
/// BotMiddleware { context, next in
///     guard isAwake(context.now) else { return }  // the handler does not run
///     try await next()
///     context.setText("\(context.now)", forKey: "last")
/// }
/// ```
///
/// What it asks for is committed with what the handler asks for. An error that it throws is the handler's.
public struct BotMiddleware: Sendable {
    /// Runs what is inside: the next middleware, in the end the handler. To be called once, or not at all.
    public typealias Next = @Sendable () async throws -> Void

    private let body: @Sendable (BotContext, Next) async throws -> Void

    public init(_ body: @escaping @Sendable (_ context: BotContext, _ next: Next) async throws -> Void) {
        self.body = body
    }

    /// Work inside of some middleware, the first one outermost.
    package static func wrap(_ work: @escaping Handler.Work, in middleware: [BotMiddleware]) -> Handler.Work {
        middleware.reversed().reduce(work) { inner, outer in
            { context in try await outer.body(context) { try await inner(context) } }
        }
    }
}
