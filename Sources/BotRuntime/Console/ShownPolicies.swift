import BotDispatch
import BotKit
import Synchronization

/// The policies of the bots as last configured, for the operator's console.
final class ShownPolicies: Sendable {
    private let policies: Mutex<[String: BotPolicy]>

    init(_ bots: [InstalledBot]) { policies = Mutex(Self.byLabel(bots)) }

    subscript(bot: String) -> BotPolicy? { policies.withLock { $0[bot] } }

    func set(_ bots: [InstalledBot]) { policies.withLock { $0 = Self.byLabel(bots) } }

    private static func byLabel(_ bots: [InstalledBot]) -> [String: BotPolicy] {
        Dictionary(bots.map { ($0.label, $0.policy) }) { first, _ in first }
    }
}
