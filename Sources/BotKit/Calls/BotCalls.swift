/// The calls of an account, for its bots while a handler runs.
///
/// ``BotContext`` has the usual methods. In contrast to other effects, calls are not part of the handler's transaction: a
/// call does not survive its process, and a handler that runs again finds that the call is over.
public protocol BotCalls: Sendable {
    /// The account's current call, or the one that ended last.
    var current: AppState.ActiveCall? { get }

    /// Accepts a ringing call, and returns when its media is connected. Throws `BotError.Code.callFailed`.
    func answer(_ callID: String, in chatID: ChatID) async throws(BotError) -> any BotCall

    /// Calls a member, the other one of a direct chat if nil, and returns when the call is accepted and its media
    /// connected. Throws `BotError.Code.callFailed`.
    func invite(_ peer: PublicKey?, in chatID: ChatID, tracks: [CallSession.Track]) async throws(BotError)
        -> any BotCall
}

extension NoBotServices: BotCalls {
    /// No call.
    public var current: AppState.ActiveCall? { nil }

    /// Throws `BotError.Code.callFailed`.
    public func answer(_ callID: String, in chatID: ChatID) async throws(BotError) -> any BotCall {
        throw BotError(.callFailed, "calls are not available here")
    }

    /// Throws `BotError.Code.callFailed`.
    public func invite(
        _ peer: PublicKey?, in chatID: ChatID, tracks: [CallSession.Track]
    ) async throws(BotError) -> any BotCall {
        throw BotError(.callFailed, "calls are not available here")
    }
}
