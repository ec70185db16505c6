import MLS
import Nostr

@testable import Marmot

/// Message of a fake group; it names the point on which it was made.
struct FakeMessage: Hashable {
    var kind: ConvergenceInput.Kind
    var parent: Bytes32
    var epoch: Epoch
    var author: PublicKey
    /// The operation: `update`, `rename`, `forbidden`, `disband`, `remove HEX`, or any text.
    var text: String
    /// The proposals to which a commit refers, at most 255.
    var proposals: [Bytes32] = []

    /// The message with its digest.
    var input: ConvergenceInput {
        let head = [Self.code(of: self.kind)] + self.parent.bytes + self.epoch.bytes + self.author.bytes
        let references = [UInt8(clamping: self.proposals.count)] + self.proposals.flatMap(\.bytes)
        let bytes = head + references + Array(self.text.utf8)
        return ConvergenceInput(id: Self.digest(bytes), kind: self.kind, epoch: self.epoch, bytes: bytes)
    }

    private static func code(of kind: ConvergenceInput.Kind) -> UInt8 {
        switch kind {
        case .commit: 1
        case .proposal: 2
        case .application: 3
        }
    }

    static func digest(_ bytes: [UInt8]) -> Bytes32 {
        guard let digest = Bytes32(SHA256Derivation.digest(bytes)) else { preconditionFailure("a digest has 32 bytes") }
        return digest
    }
}

extension FakeMessage {
    init?(_ bytes: [UInt8]) {
        let kinds: [ConvergenceInput.Kind] = [.commit, .proposal, .application]
        guard bytes.count >= 74, (1...3).contains(bytes[0]), let parent = Bytes32(bytes[1..<33]),
            let epoch = Epoch(bytes: bytes[33..<41]), let author = try? PublicKey(bytes: bytes[41..<73])
        else { return nil }
        let end = 74 + 32 * Int(bytes[73])
        guard bytes.count >= end else { return nil }
        let proposals = stride(from: 74, to: end, by: 32).compactMap { Bytes32(bytes[$0..<($0 + 32)]) }
        self.init(
            kind: kinds[Int(bytes[0]) - 1], parent: parent, epoch: epoch, author: author,
            text: String(decoding: bytes[end...], as: UTF8.self), proposals: proposals)
    }
}

/// State of a fake group: membership and used keys, without cryptography.
struct FakeState: BranchState, Hashable {
    typealias Change = String

    let me: PublicKey
    var epoch: Epoch
    var standing = BranchStanding.member
    var members: Set<PublicKey>
    /// The point of each epoch whose messages the state can read, including its own epoch.
    var points: [Epoch: Bytes32]
    /// Messages whose keys are used.
    var used: Set<Bytes32> = []
    /// Number of own messages by point.
    var generations: [Bytes32: Int] = [:]

    init(me: PublicKey, members: Set<PublicKey>, epoch: Epoch, point: Bytes32) {
        self.me = me
        self.members = members
        self.epoch = epoch
        self.points = [epoch: point]
    }

    var point: Bytes32? { self.points[self.epoch] }

    func applying(
        _ commit: [UInt8], proposals: [ConvergenceInput]
    ) throws(BranchRefusal) -> BranchStep<FakeState> {
        guard let message = FakeMessage(commit), message.kind == .commit, message.epoch == self.epoch,
            message.parent == self.point, self.standing == .member
        else { throw .foreign }
        guard message.author != self.me else { throw .own }
        let known = Set(proposals.filter { FakeMessage($0.bytes)?.parent == self.point }.map(\.id))
        guard known.isSuperset(of: message.proposals) else { throw .missingProposal }
        guard self.members.contains(message.author), message.text != "forbidden" else {
            throw .invalid(Refusal(.notAdmin, "the fake group forbids it"))
        }
        return self.step(message)
    }

    /// The state after a commit of any author.
    func step(_ message: FakeMessage) -> BranchStep<FakeState> {
        var next = self
        next.epoch = self.epoch.later(by: 1)
        next.points[next.epoch] = message.input.id
        let words = message.text.split(separator: " ")
        if words.first == "remove", words.count > 1, let key = try? PublicKey(hex: String(words[1])) {
            next.members.remove(key)
            if key == self.me { next.standing = .removed }
        }
        if words.first == "disband" { next.standing = .disbanded }
        return BranchStep(
            state: next, priority: words.first == "update" ? .ordinary : .privileged, committer: message.author,
            change: message.text, proposals: Set(message.proposals))
    }

    func judging(_ proposal: [UInt8]) throws(BranchRefusal) -> String {
        guard let message = FakeMessage(proposal), message.kind == .proposal, message.parent == self.point else {
            throw .foreign
        }
        guard message.author != self.me else { throw .own }
        guard message.text != "forbidden" else { throw .invalid(Refusal(.notAdmin, "the fake group forbids it")) }
        return message.text
    }

    func statedProposer(of proposal: [UInt8]) -> PublicKey? { FakeMessage(proposal)?.author }

    func author(of message: [UInt8]) throws(BranchRefusal) -> PublicKey {
        guard let content = FakeMessage(message), content.kind == .application,
            self.points[content.epoch] == content.parent
        else { throw .foreign }
        guard content.author != self.me else { throw .own }
        guard !self.used.contains(FakeMessage.digest(message)) else { throw .consumed }
        return content.author
    }

    mutating func open(_ message: [UInt8]) throws(BranchRefusal) -> OpenedMessage<String> {
        let author = try self.author(of: message)
        self.used.insert(FakeMessage.digest(message))
        return OpenedMessage(author: author, message: FakeMessage(message)?.text ?? "")
    }

    func withoutKeys(usedBy other: FakeState) -> FakeState {
        var result = self
        result.used.formUnion(other.used)
        for (point, count) in other.generations where self.points.values.contains(point) {
            result.generations[point] = max(result.generations[point] ?? 0, count)
        }
        return result
    }

    mutating func deleteMessageSecrets(before epoch: Epoch) {
        self.points = self.points.filter { $0.key >= epoch }
    }

    mutating func eraseSecrets() {
        self.points = [:]
        self.used = []
        self.generations = [:]
    }

    /// Makes a message by this member; returns it with its generation, which must never repeat at a point.
    mutating func send(_ text: String) -> (message: FakeMessage, generation: Int) {
        let point = self.point ?? FakeMessage.digest([])
        let generation = self.generations[point] ?? 0
        self.generations[point] = generation + 1
        let message = FakeMessage(
            kind: .application, parent: point, epoch: self.epoch, author: self.me, text: "\(text) \(generation)")
        return (message, generation)
    }
}
