/// NIP-65: the relays that a user writes to and reads from, kind 10002.
public struct RelayList: Hashable, Sendable {
    /// The relays where the user reads events that mention them.
    public var read: [RelayURL]
    /// The relays where the user publishes events.
    public var write: [RelayURL]

    /// Creates a list; a relay may be in both.
    public init(read: [RelayURL] = [], write: [RelayURL] = []) {
        self.read = read
        self.write = write
    }

    /// Throws `NostrError.Code.unexpectedKind` for other kinds. Skips invalid addresses.
    public init(_ event: Event) throws(NostrError) {
        guard event.kind == .relayList else {
            throw NostrError(.unexpectedKind, "relay list: expected kind 10002, found \(event.kind)")
        }
        self.init()
        for tag in event.tags(named: "r") {
            guard let value = tag.value, let url = try? RelayURL(value) else { continue }
            let marker = tag.values.count > 2 ? tag.values[2] : ""
            if marker != "write", !read.contains(url) { read.append(url) }
            if marker != "read", !write.contains(url) { write.append(url) }
        }
    }

    /// Returns the event to sign; it replaces the author's earlier list.
    public func unsigned(by author: PublicKey, now: UnixTime) -> UnsignedEvent {
        let written = write.map { read.contains($0) ? Tag("r", $0.string) : Tag("r", $0.string, "write") }
        let readOnly = read.filter { !write.contains($0) }.map { Tag("r", $0.string, "read") }
        return UnsignedEvent(pubkey: author, createdAt: now, kind: .relayList, tags: written + readOnly, content: "")
    }
}

extension Event {
    /// The addresses in `relay` tags, in order, without duplicates, as in kinds 10050 and 10051.
    public var relayTags: [RelayURL] {
        var urls: [RelayURL] = []
        for tag in tags(named: "relay") {
            guard let value = tag.value, let url = try? RelayURL(value), !urls.contains(url) else { continue }
            urls.append(url)
        }
        return urls
    }
}
