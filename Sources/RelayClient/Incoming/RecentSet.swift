/// Set of the most recently seen elements: at most `capacity` and, once that many were inserted, at least half of it.
///
/// It has two generations. When the young one reaches half the capacity it becomes the old one, and the previous old
/// one is dropped. An old element that is seen again becomes young.
struct RecentSet<Element: Hashable> {
    private var young: Set<Element> = []
    private var old: Set<Element> = []
    private let half: Int

    init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    var count: Int { young.count + old.subtracting(young).count }

    /// Inserts the element; returns whether it is new.
    mutating func insert(_ element: Element) -> Bool {
        if young.contains(element) { return false }
        if young.count >= half {
            old = young
            young.removeAll(keepingCapacity: true)
        }
        young.insert(element)
        return !old.contains(element)
    }

    /// Returns whether the element is in the set; if so it counts as seen now.
    mutating func contains(_ element: Element) -> Bool {
        if young.contains(element) { return true }
        guard old.contains(element) else { return false }
        _ = insert(element)
        return true
    }

    /// Removes the element; returns whether it was in the set.
    mutating func remove(_ element: Element) -> Bool {
        let (wasYoung, wasOld) = (young.remove(element) != nil, old.remove(element) != nil)
        return wasYoung || wasOld
    }
}
