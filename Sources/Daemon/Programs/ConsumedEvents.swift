import Nostr
import PikaCore

/// The recorded events that a program has consumed and that are never sent to it again. Stored in the core's durable
/// values.
struct ConsumedEvents: Hashable, Sendable {
    /// Key of the stored form.
    static let key = "taken"

    /// Every event up to this one is consumed.
    private(set) var upTo: Int64 = 0
    /// Events after ``upTo`` that are consumed too.
    private(set) var beyond: Set<Int64> = []
    /// Failures of the program per event that is not consumed.
    private(set) var failures: [Int64: Int] = [:]
    /// Whether the program acknowledges events; nil until a program has shown it.
    var acknowledges: Bool?

    init() {}

    func contains(_ cursor: Int64) -> Bool { cursor <= self.upTo || self.beyond.contains(cursor) }

    /// Returns the oldest event that is not consumed; nil if all up to `last` are.
    func oldestUnconsumed(upTo last: Int64) -> Int64? {
        // `beyond` never holds the next event: that would be part of `upTo`.
        self.upTo < last ? self.upTo + 1 : nil
    }

    /// Returns the number of events from the oldest unconsumed one to `last`, including those consumed out of order.
    func span(upTo last: Int64) -> Int64 { max(0, last - self.upTo) }

    mutating func consume(_ cursor: Int64) {
        guard cursor > self.upTo else { return }
        self.failures[cursor] = nil
        self.beyond.insert(cursor)
        while self.beyond.remove(self.upTo + 1) != nil { self.upTo += 1 }
    }

    /// Marks all events up to this one as consumed.
    mutating func consume(through cursor: Int64) {
        guard cursor > self.upTo else { return }
        self.failures = self.failures.filter { $0.key > cursor }
        self.beyond = self.beyond.filter { $0 > cursor }
        self.upTo = cursor
        while self.beyond.remove(self.upTo + 1) != nil { self.upTo += 1 }
    }

    /// Counts a failure, and returns their number for this event.
    mutating func recordFailure(of cursor: Int64) -> Int {
        let count = (self.failures[cursor] ?? 0) + 1
        self.failures[cursor] = count
        return count
    }
}

extension ConsumedEvents {
    init(_ json: JSONObject) {
        self.upTo = max(0, json["up_to"]?.integer ?? 0)
        self.beyond = Set(
            (json["beyond"]?.array ?? []).compactMap(\.integer).filter { $0 > (json["up_to"]?.integer ?? 0) })
        for pair in json["failures"]?.array ?? [] {
            guard let numbers = pair.array?.compactMap(\.integer), numbers.count == 2 else { continue }
            self.failures[numbers[0]] = Int(clamping: numbers[1])
        }
        self.acknowledges = json["acknowledges"]?.bool
    }

    var json: JSONObject {
        var object: JSONObject = [
            "up_to": .integer(self.upTo), "beyond": .array(self.beyond.sorted().map(JSONValue.integer)),
            "failures": .array(
                self.failures.sorted { $0.key < $1.key }.map { [.integer($0.key), .integer(Int64($0.value))] }),
        ]
        object["acknowledges"] = self.acknowledges.map(JSONValue.bool)
        return object
    }
}
