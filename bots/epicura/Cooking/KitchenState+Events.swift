import Appliance
import BotKit

/// The live stream.
extension KitchenState {
    /// Applies an event once, and returns the requests that follow.
    mutating func receive(_ event: LiveEvent, now: UnixTime, _ settings: EpicuraSettings) -> [KitchenWork] {
        let verdict = cooking.cursor.admit(event)
        guard verdict != .repeated else { return [] }
        var works: [KitchenWork] = []
        if verdict == .afterGap {
            works = cooking.orders.filter { $0.session.isActive }.map { .readStatus(order: $0.id) } + [.synchronize]
        }
        var isKnown = false
        for order in cooking.orders {
            guard let index = cooking.orders.firstIndex(where: { $0.id == order.id }) else { continue }
            let effects = cooking.orders[index].session.receive(event)
            isKnown = isKnown || !effects.isEmpty
            works += apply(effects, of: order.id, now: now, settings)
        }
        return works + household(event, isKnown: isKnown, settings)
    }

    /// What an event changes beside the sessions.
    private mutating func household(
        _ event: LiveEvent, isKnown: Bool, _ settings: EpicuraSettings
    ) -> [KitchenWork] {
        switch event.body {
        case .applianceStatus(let isOnline, let state):
            guard let index = household.appliances.firstIndex(where: { $0.id == event.applianceID }) else {
                return [.synchronize]
            }
            household.appliances[index].isOnline = isOnline
            household.appliances[index].state = state
        case .emergencyStopAcknowledged(let receipt): acknowledge(receipt, settings)
        case .preferencesChanged(let version): if version > preferences.version { return [.synchronize] }
        case .alert(let alert):
            // One that belongs to no session of a chat concerns the whole household.
            guard !isKnown, alert.severity != .information else { return [] }
            for chat in household.chats.keys.sorted() { self.alert(alert, in: chat, person: nil, settings) }
        case .hello, .cooking, .timerFired, .unknown: break
        }
        return []
    }

    /// Ends the emergency stop that this receipt acknowledges.
    mutating func acknowledge(_ receipt: EmergencyStopReceipt, _ settings: EpicuraSettings) {
        guard let pending = cooking.stops.first(where: { $0.stop.request.id == receipt.id }) else { return }
        cooking.stops.removeAll { $0.stop.request.id == receipt.id }
        tell("stop-\(receipt.id)/done", pending.chat, .stopAcknowledged, people: [pending.person], in: settings)
    }

    /// Begins an emergency stop of an appliance; one that has no answer yet goes on instead.
    mutating func stop(
        _ appliance: String, id: String, chat: String, person: String, now: UnixTime, _ settings: EpicuraSettings
    ) -> [KitchenWork] {
        if !cooking.stops.contains(where: { $0.stop.applianceID == appliance }),
            let stop = try? EmergencyStop(applianceID: appliance, id: id, now: now)
        {
            cooking.stops.append(PendingStop(chat: chat, person: person, stop: stop))
        }
        var works: [KitchenWork] = []
        for order in cooking.orders where order.session.applianceID == appliance {
            guard let index = cooking.orders.firstIndex(where: { $0.id == order.id }) else { continue }
            // A start that was not sent yet never is.
            guard order.hasBegun else {
                finish(order.id)
                continue
            }
            let effects = cooking.orders[index].session.abandonCommands()
            works += apply(effects, of: order.id, now: now, settings)
        }
        return works
    }
}
