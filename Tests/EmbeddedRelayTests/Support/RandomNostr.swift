import LiveTesting
import Nostr

/// Random events and filters from small sets of values, so that many of them match.
enum RandomNostr {
    private static let authors = (10..<14).map { Author(seed: $0) }
    private static let kinds: [Kind] = [1, 7, 445, 1059, 4000]
    private static let names = ["e", "h", "p", "T"]
    private static let values = ["one", "two", "three", "", "a\u{0}b", "a"]

    static func event(_ generator: inout SplitMix64) -> Event {
        let tags = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            Bool.random(using: &generator) && Bool.random(using: &generator)
                ? Tag(pick(names, &generator)) : Tag(pick(names, &generator), pick(values, &generator), "more")
        }
        return pick(authors, &generator).event(
            String(UInt64.random(in: 0...UInt64.max, using: &generator)), kind: pick(kinds, &generator),
            at: UnixTime(Int64.random(in: 1_000...1_040, using: &generator)), tags: tags)
    }

    static func filter(_ generator: inout SplitMix64, ids: [EventID] = []) -> Filter {
        var filter = Filter()
        func chance(_ percent: Int, _ generator: inout SplitMix64) -> Bool {
            Int.random(in: 0..<100, using: &generator) < percent
        }
        if chance(15, &generator) { filter.ids = some(ids, upTo: 30, &generator) }
        if chance(30, &generator) { filter.authors = some(authors.map(\.publicKey), upTo: 4, &generator) }
        if chance(40, &generator) { filter.kinds = some(kinds, upTo: 5, &generator) }
        if chance(30, &generator) { filter.since = UnixTime(Int64.random(in: 1_000...1_040, using: &generator)) }
        if chance(30, &generator) { filter.until = UnixTime(Int64.random(in: 1_000...1_040, using: &generator)) }
        if chance(40, &generator) { filter.limit = Int.random(in: 0...40, using: &generator) }
        for name in names where chance(15, &generator) {
            filter.tags[name] = some(values + (0..<20).map { "none \($0)" }, upTo: 24, &generator)
        }
        return filter
    }

    private static func some<Value>(
        _ values: [Value], upTo most: Int, _ generator: inout SplitMix64
    ) -> [Value] {
        Array(values.shuffled(using: &generator).prefix(Int.random(in: 0...most, using: &generator)))
    }

    static func pick<Value>(_ values: [Value], _ generator: inout SplitMix64) -> Value {
        values[Int.random(in: 0..<values.count, using: &generator)]
    }
}
