import Appliance
import BotKit

/// The live stream of events.
extension Kitchen {
    /// Opens the connection once there is a session; it then stays open, also across outages.
    func connect() async {
        guard !isConnected, await client.isSignedIn, !isConnected else { return }
        isConnected = true
        let url = settings.cloud.replacing("http", with: "ws", maxReplacements: 1) + "/v1/events"
        let request = BotConnectionRequest(
            url: url, maximumBytes: LiveEvent.maximumBytes, queuedMessages: 16, queuedBytes: 1 << 16,
            reachesPrivateAddresses: true)
        let handlers = BotConnectionHandlers(
            headers: { try await self.streamHeaders() }, onMessage: { await self.receive($0) })
        do { try services.connect("events", request, handlers) } catch { isConnected = false }
    }

    private func streamHeaders() async throws -> [(name: String, value: String)] {
        try await client.streamHeaders(after: state.cooking.cursor.last)
    }

    /// Applies a message of the stream; one that is no event is skipped, and read again by its number's gap.
    private func receive(_ message: BotConnectionMessage) async {
        guard case .text(let text) = message,
            let event = try? APICoding.decode(LiveEvent.self, from: text.utf8, maximumBytes: LiveEvent.maximumBytes)
        else { return }
        let settings = settings
        // If the state cannot be stored, the next connection starts with the last stored event.
        try? await update { state, now in ((), state.receive(event, now: now, settings)) }
    }
}
