import Nostr

/// Live events held until older ones are read, in the order of arrival and within a budget.
struct HeldLiveEvents: Sendable {
    private struct Entry: Sendable {
        /// The relay whose stored events are being read; nil if only the group matters.
        let relay: RelayURL?
        let event: Event
        let bytes: Int
        /// Whether a known key opens the event; false until checked.
        var isGenuine = false
    }

    private struct Name: Hashable, Sendable {
        let relay: RelayURL?
        let id: EventID
    }

    static let standard = ParkingBudget(events: 2000, bytes: 16 << 20)

    private let budget: ParkingBudget
    private var entries: [Entry] = []
    private var names: Set<Name> = []
    private(set) var bytes = 0

    init(budget: ParkingBudget = Self.standard) {
        self.budget = budget
    }

    var count: Int { self.entries.count }
    var isEmpty: Bool { self.entries.isEmpty }
    var isOverBudget: Bool { self.entries.count > self.budget.events || self.bytes > self.budget.bytes }
    /// Whether more than half of the budget is used, so that the next check for junk would come too soon.
    var isNearlyFull: Bool { self.entries.count > self.budget.events / 2 || self.bytes > self.budget.bytes / 2 }

    func contains(where isWanted: (Event) -> Bool) -> Bool { self.entries.contains { isWanted($0.event) } }

    /// Holds an event; a repetition by the same relay changes nothing.
    mutating func append(_ event: Event, from relay: RelayURL?) {
        guard self.names.insert(Name(relay: relay, id: event.id)).inserted else { return }
        let entry = Entry(relay: relay, event: event, bytes: event.parkedBytes)
        self.entries.append(entry)
        self.bytes += entry.bytes
    }

    /// Removes and returns the events that need not wait any longer.
    mutating func release(_ isFree: (Event, RelayURL?) -> Bool) -> [Event] {
        self.remove { isFree($0.event, $0.relay) }
    }

    /// Removes and returns the events that no known key opens. Each genuine event is checked once.
    mutating func releaseJunk(_ isGenuine: (Event) -> Bool) -> [Event] {
        for index in self.entries.indices where !self.entries[index].isGenuine {
            self.entries[index].isGenuine = isGenuine(self.entries[index].event)
        }
        return self.remove { !$0.isGenuine }
    }

    mutating func releaseAll() -> [Event] { self.remove { _ in true } }

    private mutating func remove(where isRemoved: (Entry) -> Bool) -> [Event] {
        var kept: [Entry] = []
        var removed: [Event] = []
        for entry in self.entries {
            if isRemoved(entry) {
                removed.append(entry.event)
                self.names.remove(Name(relay: entry.relay, id: entry.event.id))
                self.bytes -= entry.bytes
            } else {
                kept.append(entry)
            }
        }
        self.entries = kept
        return removed
    }
}
