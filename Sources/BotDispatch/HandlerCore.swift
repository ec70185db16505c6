package import Nostr
package import PikaCore

/// The core, as handlers need it; ``AppCore`` outside tests.
package protocol HandlerCore: Sendable {
    var account: PublicKey { get }
    /// What happened and no handler has finished, in order; one reader.
    var events: AsyncStream<CoreEvent> { get }

    /// Returns when there is a snapshot of what is stored, or the core has ended.
    func started() async
    func snapshot() async -> AppState
    /// The newest inbox row that was put before the handlers, also by earlier processes; after ``started()``.
    var newestInboxID: Int64 { get async }
    /// Enqueues only: the event is done with and its effects happen some time later, together.
    func complete(_ inboxID: Int64, effects: [HandlerEffect])
    /// Enqueues only: the effects happen some time later, together.
    func perform(_ effects: [HandlerEffect], request: RequestID)
    func value(scope: String, key: String) async throws -> [UInt8]?
    func media(chatID: String, messageID: EventID, index: Int) async throws -> [UInt8]
}

extension AppCore: HandlerCore {
    package func snapshot() async -> AppState { state }

    package func started() async {
        for await case .fullState in updates() { return }
    }
}
