import BotKit
import Foundation
import Synchronization

/// The state shared by all rules of one responder.
final class ResponderEnvironment: Sendable {
    let timeZone: TimeZone
    let ledger = TokenLedger()
    let logger = Logger(label: "responder")
    private let generator: Mutex<SeedableGenerator>
    /// Rules whose slow expression has been logged already.
    private let slowRules = Mutex<Set<String>>([])

    init(timeZone: TimeZone, generator: SeedableGenerator) {
        self.timeZone = timeZone
        self.generator = Mutex(generator)
    }

    /// Returns a random element; nil if there are none.
    func choose<Element: Sendable>(_ elements: [Element]) -> Element? {
        generator.withLock { elements.randomElement(using: &$0) }
    }

    /// Logs, once for each rule, that a search exceeded its time limit.
    func report(_ outcome: Expression.Outcome, of rule: String) {
        guard outcome == .tookTooLong, slowRules.withLock({ $0.insert(rule).inserted }) else { return }
        logger.warning(
            "A rule's regular expression exceeded its time limit, so the rule was skipped; avoid nested repetition",
            metadata: ["rule": "\(rule)", "limit": "\(Expression.timeLimit)"])
    }
}

/// Random numbers for choices among replies: the system's, or reproducible ones from a seed.
struct SeedableGenerator: RandomNumberGenerator, Sendable {
    private var system = SystemRandomNumberGenerator()
    /// Replaces the system's generator if there is a seed.
    private var repeatable: RepeatableGenerator?

    init(seed: UInt64? = nil) {
        repeatable = seed.map { RepeatableGenerator(seed: $0) }
    }

    mutating func next() -> UInt64 {
        guard let number = repeatable?.next() else { return system.next() }
        return number
    }
}
