/// The visible state, and whether it changed since it was last published.
struct PublishedState: Sendable {
    var state = AppState() { didSet { self.isChanged = true } }
    private(set) var isChanged = true

    /// Publishes the state if it changed since the last call; nil otherwise.
    ///
    /// - Parameter number: returns the state with the revision number under which readers receive it.
    mutating func publish(_ number: (AppState) -> AppState) -> AppState? {
        guard self.isChanged else { return nil }
        self.state = number(self.state)
        self.isChanged = false
        return self.state
    }
}
