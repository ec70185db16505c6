/// The visible state, and whether it changed since it was last published.
struct PublishedState: Sendable {
    var state = AppState() { didSet { self.isChanged = true } }
    private(set) var isChanged = true

    /// Returns the state with its next revision number; nil if it did not change since the last call.
    mutating func publish() -> AppState? {
        guard self.isChanged else { return nil }
        self.state.rev += 1
        self.isChanged = false
        return self.state
    }
}
