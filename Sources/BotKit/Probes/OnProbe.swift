/// Runs for each probe request of one module (``ProbeRequest``).
///
/// ```swift
/// OnProbe("menu") { request, context in
///     guard request.target == menuURL else { throw BotError(.probeRefused, "not the configured menu") }
///     let http = context.services.http
///     let response = try await http.send(BotHTTPRequest(method: "GET", url: menuURL, timeout: request.timeout))
///     return ProbeAnswer(isSuccess: response.status == 200)
/// }
/// ```
///
/// Anyone with access to the endpoint can request a probe, so the handler must check the target, and throw
/// `BotError.Code.probeRefused` for targets that it does not probe. Other errors and a timeout count as a failed
/// probe. Probes have no chat and run concurrently with everything else. Effects that the handler requests are dropped.
public struct OnProbe: HandlerDeclaration {
    /// The handler for probe requests.
    public let handler: Handler

    /// Creates a handler for the probe requests of a module.
    public init(
        _ module: String, perform body: @escaping @Sendable (ProbeRequest, BotContext) async throws -> ProbeAnswer
    ) {
        var handler = Handler(
            label: "probe \(module)",
            onTrigger: { trigger, _ in
                guard case .probe(let request) = trigger, request.module == module else { return nil }
                return { context in context.answer(try await body(request, context)) }
            })
        handler.probe = module
        self.handler = handler
    }
}
