import Appliance
import BotKit

/// Pairing of an appliance, one at a time.
extension Kitchen {
    /// Begins pairing, in place of an earlier one. Returns what to answer.
    func pair(in chat: ChatID, id: String) async -> String {
        guard !settings.pairing.isEmpty else { return text(.pairFailedAdapter, for: chat) }
        guard await client.isSignedIn else { return text(.loginNeeded, for: chat) }
        await pairing?.cancel()
        let session = PairingSession(chat, id: id, command: settings.pairing, kitchen: self)
        pairing = session
        pairedAddress = nil
        services.resources.background.start { await session.run() }
        return text(.pairScanning, for: chat)
    }

    /// Passes a message of the chat that pairs; false if the chat does not.
    func continuePairing(_ message: String, in chat: ChatID) async -> Bool {
        guard let pairing, pairing.chat == chat, await pairing.isActive else { return false }
        await pairing.answer(message)
        return true
    }

    /// Ends the pairing of a chat; false if it has none.
    func cancelPairing(in chat: ChatID) async -> Bool {
        guard let pairing, pairing.chat == chat, await pairing.isActive else { return false }
        await pairing.cancel()
        return true
    }

    func endPairing(_ session: PairingSession) {
        if pairing === session { pairing = nil }
    }

    /// Keeps the claim of an appliance that has joined the Wi-Fi, and adds it to the household as soon as possible.
    func paired(_ claim: ApplianceClaim, at address: String?) async {
        pairedAddress = address
        // Without the vault, the claim would be lost with this process.
        try? await client.keepClaim(claim)
        requestSynchronization()
    }
}
