import BotTesting
import Nostr

/// Acts of a hostile relay.
enum RelayAct: String, CaseIterable {
    case changeConduct, replay, replayBackwards, forge, flap

    func perform(
        at relay: RelayURL, in network: LabNetwork, knowing events: [Event], using random: inout SeededGenerator
    ) {
        switch self {
        case .changeConduct:
            let conducts = [
                LabRelayFaults.hostile, LabRelayFaults(feigned: 100), LabRelayFaults(dropped: 100, endless: 100),
                LabRelayFaults(repeated: 100, partial: 100), LabRelayFaults(closed: 100),
            ]
            network.setRelayFaults(
                conducts.randomElement(using: &random) ?? .hostile, of: relay, seed: random.next())
        case .replay: for event in events.shuffled(using: &random).prefix(30) { network.push(event, from: relay) }
        case .replayBackwards: for event in events.suffix(30).reversed() { network.push(event, from: relay) }
        case .forge:
            for event in events.shuffled(using: &random).prefix(10) {
                network.push(self.forgery(of: event, using: &random), from: relay)
            }
        case .flap:
            network.takeDown(relay)
            network.bringUp(relay)
        }
    }

    /// An event with an invalid id or signature.
    private func forgery(of event: Event, using random: inout SeededGenerator) -> Event {
        let id = Bool.random(using: &random) ? event.id : event.unsigned.changed.id
        return Event(
            id: id, pubkey: event.pubkey, createdAt: UnixTime(event.createdAt.seconds &- 1), kind: event.kind,
            tags: event.tags, content: event.content, signature: event.signature)
    }
}

extension UnsignedEvent {
    fileprivate var changed: UnsignedEvent {
        var changed = self
        changed.createdAt = UnixTime(changed.createdAt.seconds &- 1)
        return changed
    }
}
