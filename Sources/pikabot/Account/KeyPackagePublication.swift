import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Client {
    private static let publicationTime = Duration.seconds(30)

    /// Publishes a key package and returns each relay's answer; throws if no relay has stored it.
    ///
    /// Other events in the outbox, such as a message for a relay that is offline, do not count.
    func publishKeyPackage() async throws -> KeyPackageAnnouncement {
        Console.progress("publishing a key package…")
        do {
            _ = try await withDeadline(Self.publicationTime) {
                try await account.publishKeyPackage(until: \.isStoredAndAnswered)
            }
        } catch is DeadlineExceeded {
            // The relays' answers below are more specific.
        }
        await settle()
        let state = await account.core.state
        let announcement = state.keyPackage.explained(by: state.relays)
        await reportSigner()
        guard announcement.isStored else { throw CommandError(announcement.failure) }
        for relay in announcement.keyPackage where relay.answer != .stored {
            Console.printError("The key package was not stored on every relay: \(relay)")
        }
        for relay in announcement.relayLists where relay.answer != .stored {
            Console.printError("The relay lists were not stored on every relay: \(relay)")
        }
        return announcement
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
