/// The visible state, and whether it changed since it was last published.
struct PublishedState: Sendable {
    var state = AppState() { didSet { self.isChanged = true } }
    private(set) var isChanged = true

    /// Returns the state for readers if it changed since the last call; nil otherwise.
    mutating func takeChange() -> AppState? {
        guard self.isChanged else { return nil }
        self.isChanged = false
        return self.state
    }
}
