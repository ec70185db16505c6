extension EventFilter<WithdrawnEvent> {
    /// Only messages of these kinds.
    public static func kind(_ kinds: Kind...) -> Self {
        Self { withdrawn, _ in kinds.contains(withdrawn.kind) }
    }
}
