import PikaCore

/// Which event is handled when: one at a time in each chat, in order, and so many chats at once. Pure.
struct ChatLanes {
    /// Chats that may be handled at the same time.
    let width: Int
    /// By chat, the next one first; a chat with a running event is in `running`.
    private var waiting: [String: [CoreEvent]] = [:]
    /// Chats with something waiting and nothing running, the one that waits longest first.
    private var order: [String] = []
    private var running: Set<String> = []
    private(set) var isStopped = false

    init(width: Int) {
        self.width = max(1, width)
    }

    var isDrained: Bool { isStopped && running.isEmpty }

    /// The events to start now: none or one.
    mutating func add(_ event: CoreEvent) -> [CoreEvent] {
        guard !isStopped else { return [] }
        let isFirst = waiting[event.chatID] == nil
        waiting[event.chatID, default: []].append(event)
        if isFirst, !running.contains(event.chatID) { order.append(event.chatID) }
        return startable()
    }

    /// The event that ran in this chat is done with; the events to start now.
    mutating func finish(_ chatID: String) -> [CoreEvent] {
        running.remove(chatID)
        if waiting[chatID] != nil { order.append(chatID) }
        return startable()
    }

    /// Nothing is started any more; what waits comes again after a restart.
    mutating func stop() {
        isStopped = true
        waiting = [:]
        order = []
    }

    private mutating func startable() -> [CoreEvent] {
        var started: [CoreEvent] = []
        while running.count < width, !order.isEmpty {
            let chatID = order.removeFirst()
            guard var queue = waiting.removeValue(forKey: chatID), !queue.isEmpty else { continue }
            started.append(queue.removeFirst())
            if !queue.isEmpty { waiting[chatID] = queue }
            running.insert(chatID)
        }
        return started
    }
}
