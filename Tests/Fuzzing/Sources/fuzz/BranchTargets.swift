import Nostr
import TLSCodec

@testable import MLS
@testable import Marmot
@testable import PikaCore

extension Target {
    /// Stored forms of a group of the second generation with rival branches, an own commit in flight, and a closed pass.
    static func storedBranches(_ second: ComponentWorld) throws -> Target {
        let rows = Self.rows(of: try Self.branching(second))
        var readers = [
            // A row with other content: the first byte chooses the row.
            Reader(rows.enumerated().map { [UInt8(clamping: $0.offset)] + $0.element.header.copyBytes() }) { bytes in
                var rows = rows
                let row = Int(bytes.first ?? 0) % rows.count
                rows[row].header = Secret(bytes.dropFirst())
                try Self.use(rows, second)
            },
            // A record of the selected state with other content.
            Reader(Self.records(of: rows)) { bytes in
                var rows = rows
                guard let tip = rows.firstIndex(where: { !$0.records.isEmpty }) else { return }
                let names = rows[tip].records.keys.sorted { $0.description < $1.description }
                rows[tip].records[names[Int(bytes.first ?? 0) % names.count]] = Secret(bytes.dropFirst())
                try Self.use(rows, second)
            },
            // Rows that are missing: one bit for each.
            Reader([[UInt8](repeating: 0xff, count: 8), [0xfe], [0xdf, 0x7f]]) { bytes in
                let rows = rows.enumerated().filter { offset, _ in
                    offset / 8 >= bytes.count || bytes[offset / 8] >> UInt8(offset % 8) & 1 == 1
                }
                try Self.use(rows.map { $0.element }, second)
            },
            // Rows with other keys.
            Reader(rows.map(\.key)) { bytes in
                guard let key = StoredConvergingKey(stored: bytes) else { return }
                precondition(key.bytes == bytes, "a key of a row must round-trip")
            },
        ]
        readers += Self.parts(of: rows)
        return Target("stored-branches", readers)
    }

    /// The member that has seen two rival commits, with messages on both, and commits.
    private static func branching(_ second: ComponentWorld) throws -> ConvergingGroup {
        var rng = RepeatableGenerator(seed: 25)
        var random = CoreRandom(RepeatableGenerator(seed: 26))
        var group = ConvergingGroup(second.groups[2])
        for author in [0, 1, 3] {
            let staged = try second.groups[author].staging(.selfUpdate(nil), now: second.now, using: &rng)
            _ = group.receive(try GroupMessage(staged.message, of: group.groupID), now: 0)
            var next = staged.next
            let rumor = UnsignedEvent(
                pubkey: second.people[author].keys.publicKey, createdAt: second.now, kind: .chatMessage, content: "on")
            let message = try next.mls.protect(AppPayload(rumor).encoded, using: &rng)
            _ = group.receive(try GroupMessage(message, of: group.groupID), now: 0)
        }
        _ = group.advance(now: 2000)
        _ = try? group.stage(.selfUpdate(nil), limits: .common, at: second.now, now: 3000, using: &random)
        return group
    }

    private static func rows(of group: ConvergingGroup) -> [StoredGroup] {
        var (group, store) = (group, CoreRows())
        for change in group.drainChanges().storeChanges(of: group.groupID) { store.apply(change) }
        return store.state.groups.sorted { Hex.encode($0.key) < Hex.encode($1.key) }
    }

    private static func records(of rows: [StoredGroup]) -> [[UInt8]] {
        guard let tip = rows.first(where: { !$0.records.isEmpty }) else { return [] }
        let names = tip.records.keys.sorted { $0.description < $1.description }
        return names.enumerated().map { [UInt8(clamping: $0.offset)] + (tip.records[$0.element]?.copyBytes() ?? []) }
    }

    /// Restores a group, and operates it.
    private static func use(_ rows: [StoredGroup], _ second: ComponentWorld) throws {
        let account = second.people[2].keys.publicKey
        var stored = StoredConvergingGroup()
        for row in rows {
            guard let key = StoredConvergingKey(stored: row.key) else { continue }
            stored.add(row, as: key.part)
        }
        var group = try ConvergingGroup(restoring: stored, account: account, now: 0)
        var random = CoreRandom(RepeatableGenerator(seed: 27))
        var convergence = group.convergence
        Self.exercise(&convergence, second)
        group.resume(now: 0)
        _ = group.advance(now: 6000)
        _ = group.confirmOwnCommit(now: 6000)
        let rumor = UnsignedEvent(pubkey: account, createdAt: 1, kind: .chatMessage, content: "restored")
        _ = try? group.seal(rumor, using: &random)
        _ = group.advance(now: 20_000)
        _ = group.drainChanges()
    }

    /// Receives the messages of a world on a restored selection, and ends its passes.
    private static func exercise(_ group: inout GroupConvergence<ComponentBranch>, _ second: ComponentWorld) {
        let groupID = group.tip.group.groupID
        for bytes in second.messages {
            guard let message = try? GroupMessage(bytes, of: groupID) else { continue }
            _ = group.receive(ConvergenceInput(message), now: 0)
        }
        _ = group.advance(now: 6000)
        _ = group.confirmOwnCommit(now: 6000)
        _ = group.advance(now: 20_000)
        _ = group.readableStates
    }

    /// The readers of single rows. A row that was read and written again must be read as the same value.
    private static func parts(of rows: [StoredGroup]) -> [Reader] {
        func seeds(_ kind: UInt8) -> [[UInt8]] {
            rows.filter { $0.key.first == kind }.map { $0.header.copyBytes() }
        }
        return [
            Reader(seeds(7)) { bytes in
                guard let commit = PendingOwnCommit(stored: Secret(bytes)) else { return }
                precondition(PendingOwnCommit(stored: commit.stored) == commit, "an own commit must round-trip")
            },
            Reader(seeds(8)) { bytes in
                let outline = try StoredOutline(Secret(bytes))
                precondition((try? StoredOutline(outline.encoded)) != nil, "an outline must be read again")
            },
            Reader(seeds(9)) { bytes in
                var reader = TLSReader(bytes)
                let encoded = try StoredOrigin(from: &reader).encoded
                var again = TLSReader(encoded.copyBytes())
                precondition((try? StoredOrigin(from: &again)) != nil, "an origin must be read again")
            },
            Reader(seeds(12) + seeds(11)) { bytes in
                let (order, item) = try StoredInput.read(Secret(bytes))
                let again = try? StoredInput.read(item.encoded(order: order))
                precondition(again?.item == item && again?.order == order, "an input must round-trip")
            },
            Reader(seeds(13)) { bytes in
                let epoch = Epoch(rawValue: 1)
                let dispositions = try StoredDisposition.read(Secret(bytes), of: epoch)
                let again = try? StoredDisposition.read(StoredDisposition.encode(dispositions), of: epoch)
                precondition(again == dispositions, "dispositions must round-trip")
            },
        ]
    }
}
