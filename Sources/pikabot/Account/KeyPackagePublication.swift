import Logging
import Nostr
import PikaCore

/// Publishes a fresh key package for an account and returns the kind 443 event that relays now hold.
func publishKeyPackage(_ key: KeyPair, options: ClientOptions) async throws -> Event {
    let addresses = try options.allRelays()
    let settings = LocalAccountSettings(
        key: key,
        core: CoreConfiguration(relays: addresses, invites: .nobody, publishesKeyPackage: false, keepsInbox: false),
        stateDirectory: options.stateDirectory, logger: Logger(label: "pikabot"))
    return try await withLocalAccount(settings) { account in
        do {
            try await withDeadline(.seconds(30)) { try await account.publishKeyPackage() }
        } catch let error as DeadlineExceeded {
            let states = await account.core.state.relays.map { "\($0.url): \($0.connection.words)" }.sorted()
            throw CommandError("publishing a key package was \(error); " + states.joined(separator: "; "))
        }
        let event = await account.newestEvent(of: key.publicKey, kinds: [.keyPackage], on: addresses)
        guard let event else { throw CommandError("no relay gave the published key package back") }
        return event
    }
}

extension RelayConnectionState {
    fileprivate var words: String {
        switch self {
        case .disconnected: "not connected"
        case .connecting: "connecting"
        case .connected: "connected"
        case .retrying(_, let reason): reason
        }
    }
}
