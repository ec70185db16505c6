import LiveTesting
import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

/// Stored forms of a branch selection, whole and damaged.
struct ConvergenceFormTests {
    private let id = FakeMember.digest(1)

    /// A selection without states, whose pass has exceeded its deadline.
    private func bareOutline() throws -> StoredOutline {
        // The version, four empty lists, the phase, its remaining times, and the epoch of joining.
        var bytes: [UInt8] = [0, 1, 0, 0, 0, 0, 1]
        bytes += [UInt8](repeating: 0, count: 24)
        // An admin's change waits, a checkpoint is missing, and the group is unrecoverable.
        bytes += [1, 3]
        bytes += self.id.bytes
        bytes += [2, 1]
        return try StoredOutline(Secret(bytes))
    }

    private func sample() throws -> StoredOutline {
        var outline = try self.bareOutline()
        outline.nodes = [
            .init(
                point: BranchPoint(epoch: 3, id: self.id), form: .first, parent: self.id,
                witnesses: [FakeMember.account(2), FakeMember.account(3)], wasSelected: true),
            .init(
                point: BranchPoint(epoch: 4, id: FakeMember.digest(2)), form: .derivable, parent: self.id,
                witnesses: [], wasSelected: false),
        ]
        outline.history = [self.id]
        outline.pending = FakeMember.digest(3)
        outline.abandoned = [FakeMember.digest(4), FakeMember.digest(5)]
        return outline
    }

    private var origin: StoredOrigin {
        let rows = [
            JudgedCommit.Row(change: .renamed(to: "a", from: nil), actor: FakeMember.account(1)),
            JudgedCommit.Row(change: .retentionChanged(to: .max, from: 0), actor: FakeMember.account(1)),
        ]
        let change = ComponentBranch.Change(
            rows: rows, added: [FakeMember.account(4)], removed: [FakeMember.account(5)], changesRouting: true)
        return StoredOrigin(
            BranchNode<ComponentBranch>.Origin(
                parent: self.id, priority: .privileged, committer: FakeMember.account(1), change: change,
                proposals: [self.id], isOwn: true))
    }

    private func read(_ origin: Secret) throws -> StoredOrigin {
        try origin.decode(StoredOrigin.init(from:))
    }

    private func input() -> Secret {
        let input = ConvergenceInput(id: self.id, kind: .proposal, epoch: 8, bytes: [1, 2, 3])
        var item = StoredInput(input: input, isFresh: true, disposition: .dropped(.invalid(Refusal(.notAdmin, "b"))))
        item.isProven = true
        item.home = self.id
        return item.encoded(order: 5)
    }

    @Test func outlineReadsItself() throws {
        let outline = try self.sample()
        let read = try StoredOutline(outline.encoded)
        #expect(read.encoded == outline.encoded && read.nodes.count == 2 && read.nodes[0].witnesses.count == 2)
        #expect(read.pending == FakeMember.digest(3) && read.abandoned.count == 2)
        #expect(read.failure == .missingCheckpoint(self.id) && read.halt == .unrecoverable(.budgetExceeded))
        #expect(read.phase == .collecting(quietRemaining: 0, passRemaining: 0) && read.hasAdminChange)
    }

    @Test func originReadsItself() throws {
        let read = try self.read(self.origin.encoded)
        #expect(read.encoded == self.origin.encoded && read.change == self.origin.change && read.isOwn)
    }

    @Test func provenProposalsStayProven() throws {
        let item = try StoredInput.read(self.input()).item
        #expect(item.isProven && !item.isUsed && item.home == self.id)
    }

    /// Every form is refused at every shorter length, and with bytes after its end.
    @Test func formsNeedAllTheirBytes() throws {
        let outline = try self.sample().encoded.copyBytes()
        let origin = self.origin.encoded.copyBytes()
        let input = self.input().copyBytes()
        for length in outline.indices {
            #expect(throws: TLSCodecError.self) { _ = try StoredOutline(Secret(outline.prefix(length))) }
        }
        for length in origin.indices {
            #expect(throws: TLSCodecError.self) { _ = try self.read(Secret(origin.prefix(length))) }
        }
        for length in input.indices {
            #expect(throws: TLSCodecError.self) { _ = try StoredInput.read(Secret(input.prefix(length))) }
        }
        #expect(throws: TLSCodecError.self) { _ = try StoredOutline(Secret(outline + [0])) }
        #expect(throws: TLSCodecError.self) { _ = try self.read(Secret(origin + [0])) }
        #expect(throws: TLSCodecError.self) { _ = try StoredInput.read(Secret(input + [0])) }
    }

    @Test func damagedFormsNeverTrap() throws {
        var mutator = Mutator(seed: 11)
        let (outline, origin) = (try self.sample().encoded.copyBytes(), self.origin.encoded.copyBytes())
        let input = self.input().copyBytes()
        let closed: [UInt8] = [0, 1, 33] + self.id.bytes + [1]
        for _ in 0..<500 {
            _ = try? StoredOutline(Secret(mutator.damage(outline)))
            _ = try? self.read(Secret(mutator.damage(origin)))
            _ = try? StoredInput.read(Secret(mutator.damage(input)))
            _ = try? StoredDisposition.read(Secret(mutator.damage(closed)), of: 3)
        }
    }

    @Test func damagedStatesNeverTrap() throws {
        var lab = try ComponentLab(2)
        let staged = try lab.stage(.profile(GroupProfileState(name: "B")), by: 0)
        let before = ComponentBranch(lab.groups[1])
        let after = try before.applying(staged.message, proposals: []).state
        let form = after.difference(from: before, at: self.id).copyBytes()
        let restored = try ComponentBranch(Secret(form), among: [self.id: before])
        #expect(restored.epoch == 2 && restored.group.state == after.group.state)
        #expect(ComponentBranch.base(ofDifference: Secret(form)) == self.id)
        #expect(ComponentBranch.base(ofDifference: Secret(form.prefix(34))) == nil)
        expectError(.badStoredForm) { _ = try ComponentBranch(Secret(form), among: [:]) }
        for damaged in [Array(form.dropLast()), form + [0], []] {
            expectError(.badStoredForm) { _ = try ComponentBranch(Secret(damaged), among: [self.id: before]) }
        }
        var mutator = Mutator(seed: 12)
        for _ in 0..<300 { _ = try? ComponentBranch(Secret(mutator.damage(form)), among: [self.id: before]) }
    }

    @Test func longRefusalsAreCut() throws {
        let text = String(repeating: "\u{301}", count: 100_000)
        let stored = [StoredDisposition(id: self.id, epoch: 1, disposition: .dropped(.invalid(Refusal(.mls, text))))]
        let form = StoredDisposition.encode(stored)
        #expect(form.count < 1000)
        #expect(try StoredDisposition.read(form, of: 1).count == 1)
    }
}
