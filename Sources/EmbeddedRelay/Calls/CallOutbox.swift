import CallWire

/// Messages queued until a call client's socket accepts more bytes.
///
/// Frames are bounded in number and bytes: of a slow reader the oldest are dropped, because late media is useless.
/// Other messages are bounded by the channels of the connection, and never dropped.
struct CallOutbox: Sendable {
    private struct Item: Sendable {
        let message: CallRelayMessage
        /// The bytes of a frame; nil for another message.
        let groupBytes: Int?
    }

    private let limits: CallLimits
    private var items: [Item] = []
    private(set) var groups = 0
    private(set) var bytes = 0
    /// The number of frames dropped so far.
    private(set) var dropped = 0

    init(_ limits: CallLimits) {
        self.limits = limits
    }

    var isEmpty: Bool { self.items.isEmpty }

    mutating func append(_ message: CallRelayMessage) {
        guard case .group(_, let group) = message else {
            return self.items.append(Item(message: message, groupBytes: nil))
        }
        self.items.append(Item(message: message, groupBytes: group.payload.count))
        self.groups += 1
        self.bytes += group.payload.count
        // The newest frame stays, whatever its size: a message has at most ``CallWire/maximumMessage`` bytes.
        while self.groups > 1, self.groups > self.limits.queuedGroups || self.bytes > self.limits.queuedBytes {
            self.dropOldest()
        }
    }

    mutating func popFirst() -> CallRelayMessage? {
        guard !self.items.isEmpty else { return nil }
        return self.remove(at: 0).message
    }

    mutating func removeAll() {
        self.items = []
        self.groups = 0
        self.bytes = 0
    }

    private mutating func dropOldest() {
        guard let index = self.items.firstIndex(where: { $0.groupBytes != nil }) else { return }
        _ = self.remove(at: index)
        self.dropped += 1
    }

    private mutating func remove(at index: Int) -> Item {
        let item = self.items.remove(at: index)
        if let size = item.groupBytes {
            self.groups -= 1
            self.bytes -= size
        }
        return item
    }
}
