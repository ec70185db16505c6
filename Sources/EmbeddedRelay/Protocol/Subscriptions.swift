import Nostr

/// One subscription of one connection; the serial distinguishes a REQ from an earlier one with the same name.
struct SubscriptionKey: Hashable, Sendable {
    let connection: UInt64
    let serial: UInt64
}

/// Index of all live subscriptions: an event is matched only against filters that share a value with it.
///
/// Each filter is indexed by the values of its narrowest field: ids, else its shortest tag list, else authors, else
/// kinds, else in a list of filters that are always checked.
struct Subscriptions: Sendable {
    struct Match: Hashable, Sendable {
        let key: SubscriptionKey
        /// The client's subscription id.
        let name: String
    }

    private enum Term: Hashable, Sendable {
        case id(EventID)
        case tag(String, String)
        case author(PublicKey)
        case kind(Kind)
        case anything
    }

    private struct Entry: Sendable {
        let match: Match
        let filters: [Filter]
    }

    private var entries: [SubscriptionKey: Entry] = [:]
    private var index: [Term: Set<SubscriptionKey>] = [:]

    var count: Int { entries.count }

    mutating func add(_ key: SubscriptionKey, name: String, filters: [Filter]) {
        remove(key)
        entries[key] = Entry(match: Match(key: key, name: name), filters: filters)
        for term in filters.flatMap(Self.terms) {
            index[term, default: []].insert(key)
        }
    }

    mutating func remove(_ key: SubscriptionKey) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        for term in entry.filters.flatMap(Self.terms) {
            index[term]?.remove(key)
            if index[term]?.isEmpty == true { index[term] = nil }
        }
    }

    /// Returns the subscriptions that match the event, without duplicates, in no particular order.
    func matches(_ event: Event) -> [Match] {
        var candidates = Set<SubscriptionKey>()
        for term in Self.terms(of: event) {
            if let keys = index[term] { candidates.formUnion(keys) }
        }
        return candidates.compactMap { key in
            guard let entry = entries[key], entry.filters.contains(where: { $0.matches(event) }) else { return nil }
            return entry.match
        }
    }

    private static func terms(of filter: Filter) -> [Term] {
        if let ids = filter.ids { return ids.map(Term.id) }
        if let (name, values) = filter.tags.min(by: { ($0.value.count, $0.key) < ($1.value.count, $1.key) }) {
            return values.map { Term.tag(name, $0) }
        }
        if let authors = filter.authors { return authors.map(Term.author) }
        if let kinds = filter.kinds { return kinds.map(Term.kind) }
        return [.anything]
    }

    private static func terms(of event: Event) -> Set<Term> {
        var terms: Set<Term> = [.id(event.id), .author(event.pubkey), .kind(event.kind), .anything]
        for tag in event.tags where tag.name.utf8.count == 1 {
            if let value = tag.value { terms.insert(.tag(tag.name, value)) }
        }
        return terms
    }
}
