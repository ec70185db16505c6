/// Runs for each probe request of this module.
///
/// Probes belong to no chat and run concurrently with everything else. They are the only work that a stranger with
/// access to the endpoint can trigger: the handler must decide which targets it probes, and throw
/// ``BotError/Code/probeRefused`` for others. Messages that it sends are dropped. Other errors and a timeout count as a
/// failed probe.
public struct OnProbe: HandlerDeclaration {
    public let handler: Handler

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
