import MLS
import Marmot
import Nostr

/// Reordering of events within one second, whose only order is that of their ids, which is arbitrary. Events that one
/// sender encrypted within an epoch are put in the order of encryption: they swap places among themselves, within the
/// events read together.
///
/// This does not cover events that waited for a commit of the same second versus those read after it: only the commit
/// makes them readable.
extension CoreModel {
    private struct Sender: Hashable {
        let groupID: GroupID
        let epoch: Epoch
        let leaf: LeafIndex
    }

    /// Splits events into runs of the same second, with gift wraps separate from other events.
    static func seconds(of events: [Event]) -> [[Event]] {
        var seconds: [[Event]] = []
        for event in events {
            if let last = seconds.last?.last, last.createdAt == event.createdAt,
                (last.kind == .giftWrap) == (event.kind == .giftWrap)
            {
                seconds[seconds.count - 1].append(event)
            } else {
                seconds.append([event])
            }
        }
        return seconds
    }

    /// Returns the events of one second in sending order.
    ///
    /// - Parameter second: events of one second.
    func inSendingOrder(_ second: [Event]) -> [Event] {
        guard second.count > 1 else { return second }
        var sent: [Sender: [(slot: Int, generation: UInt32)]] = [:]
        for (slot, event) in second.enumerated() where event.kind == .groupEvent {
            guard !self.inbound.seen.contains(event.id), let groupID = self.groups.group(of: event),
                let place = self.groups[first: groupID]?.place(of: event)
                    ?? self.groups[second: groupID]?.place(of: event)
            else { continue }
            let sender = Sender(groupID: groupID, epoch: place.epoch, leaf: place.sender)
            sent[sender, default: []].append((slot, place.generation))
        }
        var ordered = second
        for slots in sent.values where slots.count > 1 {
            let messages = slots.sorted { ($0.generation, $0.slot) < ($1.generation, $1.slot) }
            for (slot, message) in zip(slots, messages) { ordered[slot.slot] = second[message.slot] }
        }
        return ordered
    }
}
