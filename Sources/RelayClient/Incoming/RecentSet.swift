/// The most recently seen elements, at most `capacity` and, once so many have come, at least half of that.
///
/// Two generations: when the young one is half the capacity it becomes the old one, and the old one goes. An old
/// element that is seen again becomes young.
struct RecentSet<Element: Hashable> {
    private var young: Set<Element> = []
    private var old: Set<Element> = []
    private let half: Int

    init(capacity: Int) {
        half = max(1, capacity / 2)
    }

    var count: Int { young.count + old.subtracting(young).count }

    /// Whether the element is new; it is remembered either way.
    mutating func insert(_ element: Element) -> Bool {
        if young.contains(element) { return false }
        if young.count >= half {
            old = young
            young.removeAll(keepingCapacity: true)
        }
        young.insert(element)
        return !old.contains(element)
    }

    /// Whether the element was seen; if so it counts as seen now.
    mutating func contains(_ element: Element) -> Bool {
        if young.contains(element) { return true }
        guard old.contains(element) else { return false }
        _ = insert(element)
        return true
    }
}
