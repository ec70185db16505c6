package import Nostr
package import PikaCore

/// The core, as handlers need it; ``AppCore`` outside tests.
package protocol HandlerCore: Sendable {
    var account: PublicKey { get }
    /// What happened and no handler has finished, in order; one reader.
    var events: AsyncStream<CoreEvent> { get }

    func snapshot() async -> AppState
    /// Enqueues only: the event is done with and its effects happen some time later, together.
    func complete(_ inboxID: Int64, effects: [HandlerEffect])
    /// Enqueues only: all of it happens some time later, together, without an event that it belongs to.
    func perform(_ effects: [HandlerEffect], request: RequestID)
    func value(scope: String, key: String) async throws -> [UInt8]?
    func media(chatID: String, messageID: EventID, index: Int) async throws -> [UInt8]
}

extension AppCore: HandlerCore {
    package func snapshot() async -> AppState { state }
}
