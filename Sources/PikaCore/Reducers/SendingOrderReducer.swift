import MLS
import Marmot
import Nostr

/// Events of one second have no order but that of their ids, which says nothing. What one member has sent within an epoch
/// is told in the order in which it was encrypted: it changes places with its own, of what is read together.
///
/// Not so what waited for a commit of the same second and what is read after it: only then can that be opened.
extension CoreModel {
    private struct Sender: Hashable {
        let groupID: GroupID
        let epoch: Epoch
        let leaf: LeafIndex
    }

    /// Runs of the same second, and of invitations and what may follow from them.
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

    /// - Parameter second: events of one second.
    func inSendingOrder(_ second: [Event]) -> [Event] {
        guard second.count > 1 else { return second }
        var sent: [Sender: [(slot: Int, generation: UInt32)]] = [:]
        for (slot, event) in second.enumerated() where event.kind == .groupEvent && !self.seen.contains(event.id) {
            guard let groupID = self.group(of: event), let place = self.groups[groupID]?.place(of: event)
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
