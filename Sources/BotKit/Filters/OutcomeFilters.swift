/// Selects outcomes of a bot's actions (``OnOutcome``).
public struct OutcomeFilter: Sendable {
    private let condition: @Sendable (OutcomeEvent) -> Bool

    /// Creates a filter from a condition.
    public init(_ condition: @escaping @Sendable (OutcomeEvent) -> Bool) {
        self.condition = condition
    }

    /// All outcomes.
    public static var any: OutcomeFilter { OutcomeFilter { _ in true } }

    /// Only failed actions.
    public static var failed: OutcomeFilter { OutcomeFilter { $0.result.error != nil } }

    /// Only actions with one of these names, such as `send_message` or `add_group_members`.
    public static func action(_ kinds: String...) -> OutcomeFilter {
        OutcomeFilter { kinds.contains($0.kind) }
    }

    /// Returns whether the filter selects an outcome.
    public func matches(_ outcome: OutcomeEvent) -> Bool { condition(outcome) }

    /// Outcomes that both filters select.
    public static func && (left: OutcomeFilter, right: OutcomeFilter) -> OutcomeFilter {
        OutcomeFilter { left.matches($0) && right.matches($0) }
    }
}
