package import Nostr
package import PikaCore

/// The part of the core that handlers need; ``AppCore`` outside tests.
package protocol HandlerCore: Sendable {
    var account: PublicKey { get }
    /// The events that are not completed, in order; for a single reader.
    var events: AsyncStream<CoreEvent> { get }

    /// Returns when a snapshot of the stored state is available, or the core has ended.
    func started() async
    /// The newest snapshot; includes every event delivered so far.
    func snapshot() -> AppState
    /// The newest inbox row that was delivered to handlers, by this or earlier processes; valid after ``started()``.
    var newestInboxID: Int64 { get async }
    /// Enqueues the completion of an event; it is committed later, in one transaction with the effects.
    func complete(_ inboxID: Int64, effects: [HandlerEffect])
    /// Enqueues effects; they are committed later, in one transaction.
    func perform(_ effects: [HandlerEffect], request: RequestID)
    func value(scope: String, key: String) async throws -> [UInt8]?
    func media(chatID: ChatID, messageID: EventID, index: Int) async throws -> [UInt8]
}

extension AppCore: HandlerCore {
    package func started() async {
        for await case .fullState in updates() { return }
    }
}
