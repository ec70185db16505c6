import MLS
import Nostr

@testable import Marmot

/// Member of a fake group: a branch selection with a clock, an outer layer, and a record of its effects.
struct FakeMember {
    var machine: GroupConvergence<FakeState>
    var now: Int64 = 0
    private var outer: [(point: Bytes32, input: ConvergenceInput)] = []
    private var version: UInt64 = 0
    private(set) var dispositions: [Bytes32: InputDisposition] = [:]
    private(set) var reports: [PassReport] = []
    private(set) var moves: [BranchMove<FakeState>] = []
    private(set) var halts: [ConvergenceHalt] = []
    private(set) var proposed: [String] = []
    /// Delivered messages in their order.
    private(set) var deliveries: [BranchDelivery<String>] = []
    private var withdrawn: Set<Bytes32> = []

    /// Accounts 1 to 9 of the fake group, in ascending order of their keys.
    static func account(_ number: UInt8) -> PublicKey {
        guard let key = try? PublicKey(bytes: [UInt8](repeating: number, count: 32)) else {
            preconditionFailure("32 bytes are a public key")
        }
        return key
    }

    static func digest(_ number: UInt8) -> Bytes32 { FakeMessage.digest([number]) }

    static let accounts = (1...9).map { FakeMember.account($0) }
    /// The first point of every fake group.
    static let root = BranchPoint(epoch: 10, id: FakeMember.digest(0))

    init(_ number: UInt8 = 9) {
        let root = FakeMember.root
        let state = FakeState(
            me: FakeMember.account(number), members: Set(FakeMember.accounts), epoch: root.epoch, point: root.id)
        self.machine = GroupConvergence(state, id: root.id)
    }

    var point: BranchPoint { self.machine.tipPoint }

    /// Milliseconds until something is scheduled.
    var remaining: Int64? { self.machine.deadline.map { $0 - self.now } }

    /// Messages that are delivered and not withdrawn.
    var visible: Set<Bytes32> {
        Set(self.deliveries.filter { !self.withdrawn.contains($0.point.id) }.map(\.id))
    }

    // MARK: Messages of others

    static func commit(
        on parent: BranchPoint, by author: UInt8, _ text: String = "update", proposals: [Bytes32] = []
    ) -> ConvergenceInput {
        FakeMessage(
            kind: .commit, parent: parent.id, epoch: parent.epoch, author: self.account(author), text: text,
            proposals: proposals
        ).input
    }

    static func message(at point: BranchPoint, by author: UInt8, _ text: String = "hello") -> ConvergenceInput {
        FakeMessage(
            kind: .application, parent: point.id, epoch: point.epoch, author: self.account(author), text: text
        ).input
    }

    static func proposal(at point: BranchPoint, by author: UInt8, _ text: String = "leave") -> ConvergenceInput {
        FakeMessage(
            kind: .proposal, parent: point.id, epoch: point.epoch, author: self.account(author), text: text
        ).input
    }

    /// The point that a commit begins.
    static func point(after commit: ConvergenceInput) -> BranchPoint {
        BranchPoint(epoch: commit.epoch.later(by: 1), id: commit.id)
    }

    // MARK: Input

    /// Receives inputs now, without an outer layer.
    mutating func receive(_ inputs: ConvergenceInput...) {
        for input in inputs { self.record(self.machine.receive(input, now: self.now)) }
    }

    /// Receives an input whose outer layer only the states of its point open.
    mutating func hear(_ input: ConvergenceInput) {
        guard let message = FakeMessage(input.bytes) else { return }
        self.outer.append((message.parent, input))
        self.tryUnopened()
    }

    /// Inputs that no known state opens.
    var unopened: [ConvergenceInput] { self.outer.map(\.input) }

    private mutating func tryUnopened() {
        var isNew = true
        while isNew {
            isNew = false
            let points = Set(self.machine.readableStates.compactMap(\.point))
            let opened = self.outer.filter { points.contains($0.point) }
            self.outer.removeAll { points.contains($0.point) }
            for item in opened { self.receive(item.input) }
            if self.version != self.machine.version {
                self.version = self.machine.version
                isNew = true
            }
        }
    }

    /// Lets time pass, and ends all passes on time.
    mutating func wait(_ milliseconds: Int64) {
        let end = self.now + milliseconds
        while let deadline = self.machine.deadline, deadline <= end {
            self.now = max(self.now, deadline)
            self.record(self.machine.advance(now: self.now))
            self.tryUnopened()
        }
        self.now = end
        self.record(self.machine.advance(now: end))
        self.tryUnopened()
    }

    /// Lets time pass until nothing is scheduled.
    mutating func settle() {
        var rounds = 0
        while let deadline = self.machine.deadline, rounds < 1000 {
            self.wait(max(0, deadline - self.now))
            rounds += 1
        }
    }

    /// Stores and restores the machine, on another clock.
    mutating func restart(omittingDerivable: Bool, now: Int64 = 0) throws {
        let stored = self.machine.stored(omittingDerivable: omittingDerivable)
        self.now = now
        self.machine = try GroupConvergence(restoring: stored, now: now)
        self.version = self.machine.version
        self.tryUnopened()
    }

    // MARK: Own operations

    /// Makes and stages a commit by this member.
    mutating func stage(_ text: String = "update") throws -> ConvergenceInput {
        let tip = self.machine.tip
        let message = FakeMessage(
            kind: .commit, parent: self.point.id, epoch: self.point.epoch, author: tip.me, text: text)
        try self.machine.stage(message.input, tip.step(message))
        return message.input
    }

    mutating func confirm() {
        self.record(self.machine.confirmOwnCommit(now: self.now))
        self.tryUnopened()
    }

    mutating func abandon() { self.machine.abandonOwnCommit(now: self.now) }

    /// Makes a message by this member on the tip.
    mutating func send(_ text: String) -> (input: ConvergenceInput, generation: Int) {
        let (message, generation) = self.machine.updateTip { (state: inout FakeState) in state.send(text) }
        _ = self.machine.recordOwnMessage(message.input.id, by: message.author)
        return (message.input, generation)
    }

    private mutating func record(_ effects: [ConvergenceEffect<FakeState>]) {
        for effect in effects {
            switch effect {
            case .moved(let move):
                self.moves.append(move)
                self.withdrawn.formUnion(move.undone.map(\.id))
                self.withdrawn.subtract(move.applied.map(\.id))
            case .delivered(let delivery): self.deliveries.append(delivery)
            case .proposed(_, let proposal): self.proposed.append(proposal)
            case .disposed(let id, let disposition): self.dispositions[id] = disposition
            case .settled(let report): self.reports.append(report)
            case .halted(let halt): self.halts.append(halt)
            }
        }
    }
}
