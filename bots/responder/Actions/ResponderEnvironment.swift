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

    /// Returns a random element; nil if absent.
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

/// Random numbers for choices among replies: the system's, or reproducible ones from a seed (SplitMix64).
struct SeedableGenerator: RandomNumberGenerator, Sendable {
    /// The generator's state; nil for the system's generator.
    private var state: UInt64?

    init(seed: UInt64? = nil) {
        state = seed
    }

    mutating func next() -> UInt64 {
        guard var state else {
            var system = SystemRandomNumberGenerator()
            return system.next()
        }
        defer { self.state = state }
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }
}
