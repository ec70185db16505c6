import Appliance
import BotKit

/// Emergency stops.
extension Kitchen {
    /// Stops appliances at once, whatever else waits, and goes on until each has answered.
    ///
    /// A stop is sent even if it cannot be stored.
    func emergencyStop(_ appliances: [String], id: String, chat: ChatID, person: PublicKey) async {
        // Without the stored state an appliance could not be named at all.
        try? await load()
        let (settings, now) = (settings, now)
        let follow = edit { state in
            appliances.enumerated().flatMap { index, appliance in
                state.stop(
                    appliance, id: "\(id)-\(index)", chat: chat.rawValue, person: person.hex, now: now, settings)
            }
        }
        works += follow
        // The commands that wait are overridden.
        for appliance in appliances { _ = queue.appendEmergencyStop(of: appliance) }
        try? await commit()
        // At once: the loop, which repeats it, may be busy with notices.
        for appliance in appliances {
            for (request, route) in attempts(of: appliance, self.now) {
                services.resources.background.start { await self.send(request, to: appliance, by: route) }
            }
        }
        wake()
    }

    /// Sends one attempt of a stop, and applies its receipt.
    func send(_ stop: EmergencyStopRequest, to appliance: String, by route: ApplianceRoute) async {
        guard let request = try? APIRequest.emergencyStop(stop, of: appliance, by: route) else { return }
        let answer = await send(request, to: appliance, by: route, timeout: .seconds(5))
        guard let receipt = answer.value(EmergencyStopReceipt.self) else { return }
        let settings = settings
        try? await change { state, _ in state.acknowledge(receipt, settings) }
    }
}
