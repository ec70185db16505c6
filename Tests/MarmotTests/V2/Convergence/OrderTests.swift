import LiveTesting
import MLS
import Nostr
import Testing

@testable import Marmot

/// The same inputs lead to the same branch in any order and at any times, with and without restarts.
struct OrderTests {
    /// A random tree of commits with messages on its points. At least two commits compete at the root.
    private struct Tree {
        var inputs: [ConvergenceInput] = []
        private(set) var points = [FakeMember.root]

        init(using rng: inout SplitMix64) {
            for number in 0..<Int.random(in: 2...9, using: &rng) {
                let candidates = self.points.filter { $0.epoch.distance(since: FakeMember.root.epoch) < 5 }
                let position = number < 2 ? 0 : Int.random(in: 0..<candidates.count, using: &rng)
                let author = UInt8.random(in: 1...5, using: &rng)
                let form = Bool.random(using: &rng) ? "update" : "rename"
                let commit = FakeMember.commit(on: candidates[position], by: author, "\(form) \(number)")
                self.points.append(FakeMember.point(after: commit))
                self.inputs.append(commit)
            }
            for number in 0..<Int.random(in: 0...8, using: &rng) {
                let point = self.points[Int.random(in: 0..<self.points.count, using: &rng)]
                let author = UInt8.random(in: 1...5, using: &rng)
                self.inputs.append(FakeMember.message(at: point, by: author, "message \(number)"))
            }
        }
    }

    /// The result, which must not depend on the order.
    private struct Outcome: Equatable {
        let point: BranchPoint
        let visible: Set<Bytes32>
        let members: Set<PublicKey>
        let losing: Set<Bytes32>

        init(_ member: FakeMember, _ inputs: [ConvergenceInput]) {
            self.point = member.point
            self.visible = member.visible
            self.members = member.machine.tip.members
            self.losing = Set(
                inputs.map(\.id).filter { member.machine.disposition(of: $0) == .deferred(.losingBranch) })
        }
    }

    /// 1,000 permutations within one frozen set.
    @Test func arrivalWithinAPassDoesNotMatter() {
        var rng = SplitMix64(seed: 1)
        for _ in 0..<50 {
            let tree = Tree(using: &rng)
            var expected: Outcome?
            for _ in 0..<20 {
                var member = FakeMember()
                for input in tree.inputs.shuffled(using: &rng) {
                    member.receive(input)
                    member.wait(Int64.random(in: 0...50, using: &rng))
                }
                #expect(member.reports.isEmpty)
                member.settle()
                let outcome = Outcome(member, tree.inputs)
                #expect(outcome == expected ?? outcome)
                expected = outcome
            }
        }
    }

    /// 1,000 permutations over several passes, each event opened as soon as a known state can.
    @Test func arrivalAcrossPassesDoesNotMatter() {
        var rng = SplitMix64(seed: 2)
        for _ in 0..<50 {
            let tree = Tree(using: &rng)
            var expected: Outcome?
            for _ in 0..<20 {
                var member = FakeMember()
                for input in tree.inputs.shuffled(using: &rng) {
                    member.hear(input)
                    member.wait(Int64.random(in: 0...3000, using: &rng))
                }
                member.settle()
                #expect(member.unopened.isEmpty && member.machine.status == .settled)
                let outcome = Outcome(member, tree.inputs)
                #expect(outcome == expected ?? outcome)
                expected = outcome
            }
        }
    }

    /// Restarts at random points of random runs, with another clock and without derivable states.
    @Test func restartsDoNotMatter() throws {
        var rng = SplitMix64(seed: 3)
        for _ in 0..<100 {
            let inputs = Tree(using: &rng).inputs.shuffled(using: &rng)
            let waits = inputs.map { _ in Int64.random(in: 0...2500, using: &rng) }
            var steady = FakeMember()
            var restarted = FakeMember()
            for (input, milliseconds) in zip(inputs, waits) {
                steady.hear(input)
                steady.wait(milliseconds)
                restarted.hear(input)
                if Bool.random(using: &rng) {
                    try restarted.restart(
                        omittingDerivable: Bool.random(using: &rng), now: Int64.random(in: 0...1_000_000, using: &rng))
                }
                restarted.wait(milliseconds)
                #expect(restarted.point == steady.point && restarted.visible == steady.visible)
                #expect(restarted.remaining == steady.remaining)
            }
            steady.settle()
            restarted.settle()
            #expect(Outcome(restarted, inputs) == Outcome(steady, inputs))
            #expect(restarted.reports.count == steady.reports.count)
        }
    }

    @Test func repetitionsDoNotMatter() {
        var rng = SplitMix64(seed: 4)
        for _ in 0..<50 {
            let tree = Tree(using: &rng)
            var (once, twice) = (FakeMember(), FakeMember())
            for (position, input) in tree.inputs.enumerated() {
                once.hear(input)
                twice.hear(input)
                twice.hear(tree.inputs[Int.random(in: 0...position, using: &rng)])
                once.wait(700)
                twice.wait(700)
            }
            once.settle()
            twice.settle()
            #expect(Outcome(once, tree.inputs) == Outcome(twice, tree.inputs))
            #expect(once.deliveries.count == twice.deliveries.count)
        }
    }

    /// Members that commit at the same time over a slow network agree after every burst.
    @Test func membersOfAGroupAgree() throws {
        var rng = SplitMix64(seed: 5)
        var members = (1...4).map { FakeMember($0) }
        for burst in 0..<60 {
            var mail: [(at: Int64, to: Int, input: ConvergenceInput)] = []
            func post(_ input: ConvergenceInput, from sender: Int, at time: Int64) {
                for receiver in members.indices where receiver != sender {
                    mail.append((time + Int64.random(in: 0...2500, using: &rng), receiver, input))
                }
            }
            let start = members[0].now
            for sender in members.indices where sender == burst % 4 || Int.random(in: 0..<3, using: &rng) == 0 {
                #expect(members[sender].machine.mayCommit)
                let own = try members[sender].stage("\(Bool.random(using: &rng) ? "update" : "rename") \(burst)")
                members[sender].confirm()
                post(own, from: sender, at: start)
                if Bool.random(using: &rng) {
                    post(members[sender].send("burst \(burst)").input, from: sender, at: start)
                }
            }
            while let next = mail.indices.min(by: { mail[$0].at < mail[$1].at }) {
                let item = mail.remove(at: next)
                let pause = max(0, item.at - members[item.to].now)
                members[item.to].wait(pause)
                members[item.to].hear(item.input)
                if !members[item.to].machine.holdsMessages, mail.count < 12, Int.random(in: 0..<4, using: &rng) == 0 {
                    let text = "answer \(burst) \(mail.count)"
                    post(members[item.to].send(text).input, from: item.to, at: members[item.to].now)
                }
            }
            let end = (members.map(\.now).max() ?? start) + 20_000
            for number in members.indices {
                let pause = end - members[number].now
                members[number].wait(pause)
            }
            #expect(Set(members.map(\.point)).count == 1, "burst \(burst)")
            #expect(members.allSatisfy { $0.unopened.isEmpty && $0.machine.status == .settled })
        }
        #expect(members[0].point.epoch == FakeMember.root.epoch.later(by: 60))
    }
}
