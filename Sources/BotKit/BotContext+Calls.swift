extension BotContext {
    /// Accepts the call of the handled invitation at once, and runs `body` with its media once it is connected. When
    /// `body` has returned or thrown, the call is ended, unless it is over.
    ///
    /// The handler runs for as long as the call: set the bot's `timeout` accordingly. Meanwhile the bot gets no other
    /// events of the chat. A handler that only accepts, because something else uses the media, calls ``acceptCall()``.
    ///
    /// Throws `BotError.Code.noCall` if the event is not a call signal, `BotError.Code.callFailed` if the call is over or
    /// its media cannot be connected, and the errors of `body`.
    public func answerCall<Result: Sendable>(
        _ body: (any BotCall) async throws -> Result
    ) async throws -> Result {
        try await use(try await services.calls.answer(try callID(), in: chatID), body)
    }

    /// Calls a member of the event's chat or of another one, and runs `body` as ``answerCall(_:)`` does. An invitation
    /// that is not answered ends after 30 seconds.
    ///
    /// Throws `BotError.Code.noChat` without a chat, `BotError.Code.callFailed` if the call is refused, not answered or
    /// not connected, and the errors of `body`.
    ///
    /// - Parameters:
    ///   - peer: The member; nil for the other one of a direct chat.
    ///   - chatID: The chat; nil for the event's chat.
    ///   - tracks: The tracks of the call; audio in Pika's format by default.
    ///   - body: Uses the call's media.
    public func call<Result: Sendable>(
        _ peer: PublicKey? = nil, in chatID: ChatID? = nil, tracks: [CallSession.Track] = [.audio],
        _ body: (any BotCall) async throws -> Result
    ) async throws -> Result {
        guard let chatID = chat(chatID) else { throw BotError(.noChat, "a call needs a chat") }
        return try await use(try await services.calls.invite(peer, in: chatID, tracks: tracks), body)
    }

    private func use<Result: Sendable>(
        _ call: any BotCall, _ body: (any BotCall) async throws -> Result
    ) async throws -> Result {
        do {
            let result = try await body(call)
            call.end()
            return result
        } catch {
            call.end(reason: "runtime_error")
            throw error
        }
    }
}
