import Nostr

/// The simulator's transport: a queue of published messages, and a mailbox of each client, which is read at its ticks.
struct ScenarioMail {
    enum Content: String {
        case application, commit, proposal, welcome
    }

    struct Item {
        let event: Event
        let sender: String
        let publication: String?
        let content: Content
        var label: String?
        /// Clients that must not see it yet.
        var hidden: Set<String> = []
        /// Clients that have it.
        var delivered: Set<String>
        /// Whether it was delivered to everybody it can reach.
        var isDone = false

        init(_ event: Event, by sender: String, publication: String?, _ content: Content) {
            self.event = event
            self.sender = sender
            self.publication = publication
            self.content = content
            self.delivered = [sender]
        }

        fileprivate func matches(_ selector: ScenarioVector.Selector) -> Bool {
            (selector.publication ?? self.publication) == self.publication
                && (selector.sender ?? self.sender) == self.sender
                && (selector.class ?? self.content.rawValue) == self.content.rawValue
        }
    }

    private(set) var items: [Item] = []
    private var mailboxes: [String: [Event]] = [:]
    /// The clients that can be reached; nil for all.
    var allowed: Set<String>?

    mutating func append(_ item: Item) { self.items.append(item) }

    /// Returns the first messages, or those of the given occurrence, that a selector names.
    private func index(of selector: ScenarioVector.Selector) throws -> Int {
        let matching = self.items.indices.filter {
            !self.items[$0].isDone && self.items[$0].label == nil && self.items[$0].matches(selector)
        }
        let number = selector.occurrence ?? 0
        guard matching.indices.contains(number) else { throw ScenarioError("no queued message matches \(selector)") }
        return matching[number]
    }

    // MARK: Faults

    mutating func withhold(_ selector: ScenarioVector.Selector, as label: String) throws {
        let index = try self.index(of: selector)
        self.items[index].label = label
    }

    mutating func release(_ label: String) {
        // A released message arrives after all queued ones.
        let released = self.items.filter { $0.label == label }
        self.items.removeAll { $0.label == label }
        for var item in released {
            item.label = nil
            self.items.append(item)
        }
    }

    mutating func omit(_ selector: ScenarioVector.Selector) throws {
        let index = try self.index(of: selector)
        self.items.remove(at: index)
    }

    /// Removes an event that reached no relay.
    mutating func drop(_ id: EventID) { self.items.removeAll { $0.event.id == id } }

    mutating func duplicate(_ selector: ScenarioVector.Selector) throws {
        let index = try self.index(of: selector)
        self.items.insert(self.items[index], at: index + 1)
    }

    mutating func reorder(_ order: [ScenarioVector.Selector]) throws {
        let indices = try order.map { try self.index(of: $0) }
        let chosen = indices.map { self.items[$0] }
        self.items = chosen + self.items.enumerated().filter { !indices.contains($0.offset) }.map(\.element)
    }

    mutating func setVisible(_ isVisible: Bool, _ selector: ScenarioVector.Selector, to clients: [String]) {
        for index in self.items.indices where self.items[index].matches(selector) {
            if isVisible {
                self.items[index].hidden.subtract(clients)
            } else {
                self.items[index].hidden.formUnion(clients)
            }
        }
    }

    // MARK: Delivery

    /// Delivers every queued message to the mailboxes of all reachable clients. Returns the delivered events in order.
    mutating func deliver(to clients: [String]) -> [Event] {
        var events: [Event] = []
        for index in self.items.indices where !self.items[index].isDone && self.items[index].label == nil {
            self.deliver(index, to: clients)
            self.items[index].isDone = self.items[index].hidden.isEmpty
            events.append(self.items[index].event)
        }
        return events
    }

    /// Delivers the visible messages that the clients lack, as a relay's history does. Returns them in order.
    mutating func synchronize(_ clients: [String]) -> [Event] {
        var events: [Event] = []
        for index in self.items.indices where self.items[index].label == nil && !self.items[index].isDone {
            self.deliver(index, to: clients)
            events.append(self.items[index].event)
        }
        return events
    }

    private mutating func deliver(_ index: Int, to clients: [String]) {
        let item = self.items[index]
        for client in clients where !item.delivered.contains(client) && !item.hidden.contains(client) {
            guard self.allowed?.contains(client) ?? true else { continue }
            self.items[index].delivered.insert(client)
            self.mailboxes[client, default: []].append(item.event)
        }
    }

    /// Empties a client's mailbox.
    mutating func collect(_ client: String) -> [Event] { self.mailboxes.removeValue(forKey: client) ?? [] }
}

/// A scenario that cannot be played.
struct ScenarioError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
