/// Runs when somebody asks for a probe of this module.
///
/// Probes belong to no chat, run side by side with everything else, and are the only thing that a stranger who reaches
/// the endpoint can make a bot do: whoever writes one decides which targets it looks at, and throws
/// ``BotError/Code/probeRefused`` for others. What such a handler sends is dropped; what it throws otherwise, and a
/// timeout, is a probe that failed.
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
