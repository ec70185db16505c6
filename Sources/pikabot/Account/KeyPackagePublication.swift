import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Client {
    /// Publishes a key package and returns the kind 443 event that relays now hold.
    func publishKeyPackage(_ options: ClientOptions) async throws -> Event {
        Console.progress("publishing a key package…")
        do {
            try await withDeadline(.seconds(30)) { try await account.publishKeyPackage() }
        } catch let error as DeadlineExceeded {
            let states = await account.core.state.relays.map { "\($0.url): \($0.connection.words)" }.sorted()
            throw CommandError("publishing a key package was \(error); " + states.joined(separator: "; "))
        }
        let announced = try options.relaysForKeyPackages()
        let relays = announced.isEmpty ? try options.messageRelays() : announced
        let event = await account.newestEvent(of: key.publicKey, kinds: [.keyPackage], on: relays)
        guard let event else { throw CommandError("no relay gave the published key package back") }
        await settle()
        return event
    }
}

extension RelayConnectionState {
    var words: String {
        switch self {
        case .disconnected: "not connected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .retrying(_, let reason): reason
        }
    }
}
