import BotTesting
import Nostr

@testable import Marmot
@testable import PikaCore

/// Random operations of a few accounts under faults, all from one seed; the run is recorded.
final class RandomRun {
    let lab: GroupLab
    private(set) var members: [LabMember] = []
    private(set) var chats: [ChatID] = []
    /// The members of a chat at its founding.
    private(set) var founded: [ChatID: Set<PublicKey>] = [:]
    private(set) var trace: [String] = []
    private var random: SeededGenerator
    private var textCount = 0

    init(seed: UInt64, accounts: Int = 6, groupProtocol: GroupProtocol = .v1) async throws {
        self.lab = try GroupLab(
            seed: seed, relays: 2, schedule: .shuffled, selfUpdate: seed.isMultiple(of: 2) ? .standard : .never,
            groupProtocol: groupProtocol)
        self.random = SeededGenerator(seed: seed, stream: "operations")
        for number in 0..<accounts { self.members.append(try await self.lab.member("m\(number)")) }
        let first = try await self.members[0].create("one", inviting: [self.members[1], self.members[2]])
        guard
            case .done(let second?) = try await self.members[1].perform(
                .createChat(peer: self.members[3].publicKey))
        else { return }
        self.chats = [first, second]
        self.founded = [
            first: Set(self.members[...2].map(\.publicKey)),
            second: [self.members[1].publicKey, self.members[3].publicKey],
        ]
    }

    /// The account that founded a chat; it is never removed.
    func founder(of chat: ChatID) -> LabMember { self.members[chat == self.chats[0] ? 0 : 1] }

    func run(operations: Int) async throws {
        self.lab.network.setFaults(.rough, seed: self.lab.seed)
        for _ in 0..<operations {
            try await self.operate()
            if Bool.random(using: &self.random) { try await self.lab.settle() }
        }
    }

    /// Ends all faults and settles the lab; then every member sends one message.
    func finish() async throws {
        self.note("rest")
        self.lab.network.deliverEverything()
        self.lab.network.heal()
        for relay in self.lab.relays { self.lab.network.bringUp(relay) }
        self.lab.network.release()
        try await self.settle(.seconds(900))
        for chat in self.chats {
            for member in try await self.present(in: chat) { self.say(member, chat) }
        }
        try await self.settle(.seconds(120))
    }

    /// A planned crash may still occur.
    private func settle(_ duration: Duration) async throws {
        repeat {
            for member in self.members where member.hasCrashed { try await member.restart() }
            try await self.lab.advance(by: duration)
        } while self.members.contains(where: \.hasCrashed)
    }

    func present(in chat: ChatID) async throws -> [LabMember] {
        var present: [LabMember] = []
        for member in self.members where !member.hasCrashed {
            if try await member.summary(of: chat)?.isActive == true { present.append(member) }
        }
        return present
    }

    // MARK: Operations

    private func operate() async throws {
        let chat = self.chats[Int.random(in: 0..<self.chats.count, using: &self.random)]
        let relay = self.lab.relays[Int.random(in: 0..<self.lab.relays.count, using: &self.random)]
        let target = self.members[Int.random(in: 0..<self.members.count, using: &self.random)]
        guard let actor = try await self.present(in: chat).randomElement(using: &self.random) else { return }
        switch Int.random(in: 0..<35, using: &self.random) {
        case 0..<12: self.say(actor, chat)
        case 12..<14:
            self.begin(actor, .renameGroup(chatID: chat, name: "name \(self.trace.count)"), "renames")
        case 14..<17:
            self.begin(actor, .addGroupMembers(chatID: chat, peers: [target.publicKey]), "adds \(target.name) to")
        case 17:
            guard target !== self.founder(of: chat) else { return }
            self.begin(
                actor, .removeGroupMembers(chatID: chat, peers: [target.publicKey]), "removes \(target.name) from")
        case 18:
            self.note("down \(relay)")
            self.lab.network.takeDown(relay)
        case 19:
            self.note("up")
            for relay in self.lab.relays { self.lab.network.bringUp(relay) }
        case 20:
            self.note("cut \(target.name) \(relay)")
            self.lab.network.cutOff(target.name, from: relay)
        case 21:
            self.note("stall \(target.name) \(relay)")
            self.lab.network.stall(target.name, at: relay)
        case 22:
            self.note("heal")
            self.lab.network.heal()
        case 23:
            self.note("repeat")
            self.lab.network.setRepeats(Int.random(in: 1...2, using: &self.random))
        case 24:
            self.note("crash \(target.name)")
            target.crash()
        case 25 where !target.hasCrashed:
            let commit = target.store.commitCount + Int.random(in: 1...4, using: &self.random)
            self.note("crash \(target.name) at \(commit)")
            target.crash(Bool.random(using: &self.random) ? .before(commit: commit) : .after(commit: commit))
        case 26:
            self.note("restart all")
            for member in self.members where member.hasCrashed { try await member.restart() }
        case 27:
            self.note("release")
            self.lab.network.release(shuffledBy: &self.random)
        case 28:
            guard actor !== self.founder(of: chat) else { return }
            self.begin(actor, .leaveGroup(chatID: chat), "leaves")
        case 29, 30: self.begin(actor, .updateGroupKeys(chatID: chat), "renews its keys in")
        case 31:
            let admins = try await self.present(in: chat).filter { _ in Bool.random(using: &self.random) }
            let founder = self.founder(of: chat)
            self.begin(
                actor, .setGroupAdmins(chatID: chat, admins: [founder.publicKey] + admins.map(\.publicKey)),
                "lets \(admins.map(\.name)) be admins of")
        case 32: self.begin(actor, .setGroupDescription(chatID: chat, description: "\(self.trace.count)"), "describes")
        default:
            let seconds = Int.random(in: 1..<40, using: &self.random)
            self.note("\(seconds) s")
            try await self.lab.advance(by: .seconds(seconds))
        }
    }

    private func say(_ member: LabMember, _ chat: ChatID) {
        self.textCount += 1
        self.begin(member, .sendMessage(chatID: chat, .text("\(self.textCount)")), "says \(self.textCount) in")
    }

    private func begin(_ member: LabMember, _ action: AppAction, _ what: String) {
        guard !member.hasCrashed else { return }
        self.note("\(member.name) \(what) \(self.chats.firstIndex { action.chat == $0 } ?? -1)")
        member.begin(action)
    }

    private func note(_ what: String) { self.trace.append(what) }
}

extension AppAction {
    fileprivate var chat: ChatID? {
        switch self {
        case .sendMessage(let chat, _), .renameGroup(let chat, _), .addGroupMembers(let chat, _, _),
            .removeGroupMembers(let chat, _), .leaveGroup(let chat, _), .updateGroupKeys(let chat),
            .setGroupAdmins(let chat, _), .setGroupDescription(let chat, _):
            chat
        default: nil
        }
    }
}
