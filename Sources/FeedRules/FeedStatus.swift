package import Nostr

/// The condition of a feed, for operators.
package struct FeedStatus: Sendable, Hashable {
    package enum State: String, Sendable, CaseIterable {
        /// The source starts or connects for the first time.
        case connecting
        /// The source delivers, or waits for news.
        case connected
        /// The source has failed, and is tried again after a while.
        case retrying
        /// The worker is ending.
        case stopped
    }

    package let name: String
    /// The kind of the source: the key in the configuration.
    package let kind: String
    package private(set) var state = State.connecting
    /// The time of the last change of ``state``.
    package private(set) var since: UnixTime
    /// The time of the last item that was stored.
    package private(set) var lastItemAt: UnixTime?
    package private(set) var stored: Int64 = 0
    package private(set) var duplicates: Int64 = 0
    package private(set) var errors: Int64 = 0
    /// Consecutive failures of the source.
    package private(set) var failures = 0
    /// The last error in words, without content; nil if there was none since the source last worked.
    package private(set) var lastError: String?

    package init(name: String, kind: String, now: UnixTime) {
        self.name = name
        self.kind = kind
        since = now
    }

    package mutating func enter(_ state: State, now: UnixTime) {
        if state == .connected { lastError = nil }
        guard self.state != state else { return }
        self.state = state
        since = now
    }

    /// Records a failure of the source.
    package mutating func fail(_ error: FeedError, now: UnixTime) {
        note(error)
        failures = failures < .max ? failures + 1 : failures
        enter(.retrying, now: now)
    }

    /// Records an error that does not end the source.
    package mutating func note(_ error: FeedError) {
        errors &+= 1
        lastError = String("\(error.code): \(error.message)".prefix(200))
    }

    /// Records that the source has worked: the next failure counts as the first.
    package mutating func recover() { failures = 0 }

    package mutating func receive(isDuplicate: Bool, now: UnixTime) {
        if isDuplicate {
            duplicates &+= 1
        } else {
            recover()
            stored &+= 1
            lastItemAt = now
        }
    }

    /// The status for operators: times as ages in seconds.
    package func json(now: UnixTime) -> JSONValue {
        func age(_ time: UnixTime) -> JSONValue { .integer(max(0, now.seconds(since: time))) }
        return [
            "name": .string(name), "kind": .string(kind), "state": .string(state.rawValue), "age": age(since),
            "lastItemAge": lastItemAt.map(age) ?? .null, "stored": .integer(stored),
            "duplicates": .integer(duplicates), "errors": .integer(errors),
            "lastError": lastError.map { .string($0) } ?? .null,
        ]
    }
}
