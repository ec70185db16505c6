import LoadReport
import Logging
import Nostr
import PikaCore
import Synchronization

/// The agents of a test, their groups, and the random generator that drives them.
final class Fleet: Sendable {
    /// Maximum number of members added by the founding commit and by each later one, limited by the size of the commit
    /// and its Welcomes.
    static let maximumAddedMembers = 40

    let plan: LoadPlan
    let agents: [LoadAgent]
    let monitor: FleetMonitor
    /// Timeout of actions that have no deadline of the plan.
    let actionTimeout: Duration
    private let created = Mutex(CreatedGroups())
    private let generator: Mutex<RepeatableGenerator>

    init(plan: LoadPlan, agents: [LoadAgent], monitor: FleetMonitor, actionTimeout: Duration) {
        self.plan = plan
        self.agents = agents
        self.monitor = monitor
        self.actionTimeout = actionTimeout
        generator = Mutex(RepeatableGenerator(seed: plan.seed))
    }

    var timeline: Timeline { monitor.timeline }
    var recorder: LoadRecorder { monitor.recorder }

    /// Draws from the seeded generator.
    func draw<Value: Sendable>(_ body: (inout RepeatableGenerator) -> Value) -> Value {
        generator.withLock { body(&$0) }
    }

    func chat(of group: Int) -> ChatID? { created.withLock { $0[group] } }
    func note(_ chatID: ChatID, of group: Int) { created.withLock { $0.note(chatID, of: group) } }
    var chatCount: Int { createdGroups.count }
    /// Numbers of the created groups, ascending.
    var createdGroups: [Int] { created.withLock { $0.numbers } }

    /// Returns the group's current members that may send.
    func publishers(of group: Int) -> [Int] {
        let members = monitor.group(group)?.members ?? []
        return plan.groups.publishers.map { Array(members.prefix($0)) } ?? members
    }
}

extension LoadPlan.Groups {
    /// The number of members above which none is added, limited by the Welcome: NIP-44 encrypts at most 65,535 bytes, and
    /// leaves of the second generation are longer.
    var largest: Int {
        switch groupProtocol {
        case .v1: 80
        case .v2, .auto: 60
        }
    }

    /// Whether an account with this verdict can be invited to the groups.
    func admits(_ verdict: KeyPackageVerdict) -> Bool {
        guard case .usable(let found) = verdict else { return false }
        return switch groupProtocol {
        case .v1: found.generations.contains(.v1)
        case .v2: found.generations.contains(.v2)
        case .auto: true
        }
    }

    /// Returns the number of members of a group, by its number from 0 on.
    func size(of number: Int) -> Int {
        switch sizes {
        case .fixed(let size): size
        case .power(let most): max(2, most / (number + 1))
        }
    }
}
