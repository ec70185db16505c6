import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct ClosedInputsTests {
    private func id(_ number: Int) throws -> Bytes32 {
        var bytes = [UInt8](repeating: 0, count: 32)
        bytes[0] = UInt8(truncatingIfNeeded: number)
        bytes[1] = UInt8(truncatingIfNeeded: number >> 8)
        return try #require(Bytes32(bytes))
    }

    /// The chunks as a store would have them after the changes of `closed`.
    private func store(_ closed: inout ClosedInputs, _ rows: inout [ClosedChunk: [StoredDisposition]]) {
        for chunk in closed.drainChanges() {
            let content = closed.content(of: chunk)
            rows[chunk] = content.isEmpty ? nil : content
        }
    }

    @Test func changesOneChunkForEachInput() throws {
        var closed = ClosedInputs()
        for number in 0..<100 {
            closed.insert(try self.id(number), 4, .accepted)
            let changed = closed.drainChanges()
            #expect(changed.count == 1 && changed.allSatisfy { closed.content(of: $0).count <= ClosedInputs.chunkSize })
        }
        closed.insert(try self.id(7), 4, .ownEcho)
        let changed = closed.drainChanges()
        #expect(changed == [ClosedChunk(epoch: 4, number: 0)])
        let seventh = try self.id(7)
        #expect(closed.entries.count == 100 && closed[seventh] == .ownEcho)
    }

    @Test func restoresAndContinuesChunks() throws {
        var (closed, rows) = (ClosedInputs(), [ClosedChunk: [StoredDisposition]]())
        for number in 0..<150 {
            closed.insert(try self.id(number), number < 90 ? 3 : 5, number % 2 == 0 ? .accepted : .duplicate)
            self.store(&closed, &rows)
            if number % 20 == 0 { closed = ClosedInputs(rows) }
        }
        #expect(closed.entries.count == 150 && rows.values.reduce(0) { $0 + $1.count } == 150)
        closed.remove(before: 5)
        self.store(&closed, &rows)
        #expect(closed.entries.count == 60 && rows.keys.allSatisfy { $0.epoch == 5 } && rows.count == 2)
    }

    @Test func forgetsOldestQuarterInStoreToo() throws {
        var (closed, rows) = (ClosedInputs(), [ClosedChunk: [StoredDisposition]]())
        for number in 0...ClosedInputs.limit { closed.insert(try self.id(number), 1, .accepted) }
        self.store(&closed, &rows)
        #expect(rows.values.reduce(0) { $0 + $1.count } == closed.entries.count)
        let (first, last) = (try self.id(0), try self.id(ClosedInputs.limit))
        #expect(closed.entries.count <= ClosedInputs.limit && closed[first] == nil && closed[last] == .accepted)
    }

    @Test func epochsOfForgottenInputsAreForgotten() throws {
        var (closed, rows) = (ClosedInputs(), [ClosedChunk: [StoredDisposition]]())
        let count = 2 * ClosedInputs.limit
        for number in 0..<count {
            closed.insert(try self.id(number), Epoch(rawValue: (1 << 40) + UInt64(number)), .dropped(.crowded))
        }
        self.store(&closed, &rows)
        #expect(closed.entries.count <= ClosedInputs.limit && closed.openChunks.count == closed.entries.count)
        #expect(rows.count == closed.entries.count)
        // An epoch that occurs again begins a new chunk.
        let first = try self.id(0)
        closed.insert(first, Epoch(rawValue: 1 << 40), .duplicate)
        self.store(&closed, &rows)
        #expect(closed[first] == .duplicate && ClosedInputs(rows)[first] == .duplicate)
    }

    @Test func storesAllDispositions() throws {
        let all: [InputDisposition] = [
            .collected, .accepted, .deferred(.missingParent), .deferred(.futureEpoch),
            .dropped(.invalid(Refusal(.notAdmin, "of a member"))), .dropped(.invalid(nil)), .dropped(.beyondAnchor),
            .dropped(.beforeJoin), .dropped(.unreferenced), .dropped(.crowded), .dropped(.halted),
            .invalidated(.losingBranch), .invalidated(.otherCopy), .invalidated(.crowded), .duplicate,
            .ownEcho, .refused,
        ]
        let stored = try all.enumerated().map { number, disposition in
            StoredDisposition(id: try self.id(number), epoch: 9, disposition: disposition)
        }
        #expect(try StoredDisposition.read(StoredDisposition.encode(stored), of: 9) == stored)
        for (number, disposition) in all.enumerated() {
            let input = ConvergenceInput(id: try self.id(number), kind: .proposal, epoch: 8, bytes: [1, 2])
            var item = StoredInput(input: input, isFresh: number % 2 == 0, disposition: disposition)
            item.isUsed = number % 3 == 0
            item.home = try number % 4 == 0 ? self.id(3) : nil
            let read = try StoredInput.read(item.encoded(order: 77))
            #expect(read.order == 77 && read.item == item)
        }
        #expect(throws: TLSCodecError.self) { _ = try StoredInput.read(Secret([0, 2])) }
    }
}
