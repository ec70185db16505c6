import BotTesting
import LoadReport
import Logging
import Nostr
import PikaCore
import Synchronization

/// The agents of a test, the groups that they are in, and the dice that decide what they do.
final class Fleet: Sendable {
    /// Groups are founded with so many members at once, and get the others in steps of so many: what fits into one
    /// commit and its Welcomes.
    static let membersAtOnce = 40
    /// What an agent does at a time of its own takes so long at most.
    static let patience = Duration.seconds(60)

    let plan: LoadPlan
    let agents: [LoadAgent]
    let board: Board
    /// Chats by the number of their group.
    private let chats = Mutex<[Int: String]>([:])
    private let dice: Mutex<SeededGenerator>

    init(plan: LoadPlan, agents: [LoadAgent], board: Board) {
        self.plan = plan
        self.agents = agents
        self.board = board
        dice = Mutex(SeededGenerator(seed: plan.seed))
    }

    var timeline: Timeline { board.timeline }
    var recorder: LoadRecorder { board.recorder }

    /// Something that the seed decides.
    func roll<Value: Sendable>(_ body: (inout SeededGenerator) -> Value) -> Value {
        dice.withLock { body(&$0) }
    }

    func chat(of group: Int) -> String? { chats.withLock { $0[group] } }
    func note(_ chatID: String, of group: Int) { chats.withLock { $0[group] = chatID } }
    var chatCount: Int { chats.withLock { $0.count } }
    var foundedGroups: [Int] { chats.withLock { $0.keys.sorted() } }

    /// Those of a group who may send, as far as they are members now.
    func publishers(of group: Int) -> [Int] {
        let members = board.group(group)?.members ?? []
        return plan.groups.publishers.map { Array(members.prefix($0)) } ?? members
    }
}

extension LoadPlan.Groups {
    /// Members of a group, by its number from 0 on.
    func size(of number: Int) -> Int {
        switch sizes {
        case .fixed(let size): size
        case .power(let most): max(2, most / (number + 1))
        }
    }
}
