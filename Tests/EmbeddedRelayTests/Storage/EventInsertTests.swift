import Errors
import Foundation
import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.bounded)
struct EventInsertTests {
    @Test(arguments: [0, 3, 10_000, 19_999, 10_051] as [Kind])
    func keepsNewestOfReplaceableKind(kind: Kind) async throws {
        let access = try StoreAccess()
        let old = Author.alice.event("old", kind: kind, at: 100)
        let new = Author.alice.event("new", kind: kind, at: 101)
        let foreign = Author.bob.event("bob", kind: kind, at: 99)
        let outcomes = await access.insert([old, new, foreign, old, new])
        #expect(
            outcomes == [.stored(sequence: 1), .stored(sequence: 2), .stored(sequence: 3), .superseded, .duplicate])
        #expect(try await access.query(Filter()) == [new, foreign])
    }

    @Test func lowestIDBreaksReplaceableTies() async throws {
        let versions = (0..<6).map { Author.alice.event("\($0)", kind: 10_002, at: 100) }
        let lowest = versions.min { $0.id < $1.id }
        for order in [versions, versions.reversed()] {
            let access = try StoreAccess()
            _ = await access.insert(order)
            #expect(try await access.query(Filter()) == [lowest])
        }
    }

    @Test func keepsNewestPerAddressableIdentifier() async throws {
        let access = try StoreAccess()
        func version(_ content: String, _ at: UnixTime, _ tags: [Nostr.Tag]) -> Event {
            Author.alice.event(content, kind: .addressableKeyPackage, at: at, tags: tags)
        }
        let one = version("one", 100, [Tag("d", "a")])
        let two = version("two", 101, [Tag("d", "a"), Tag("d", "b")])
        let other = version("other", 99, [Tag("d", "b")])
        let unnamed = version("unnamed", 98, [])
        let empty = version("empty", 99, [Tag("d", "")])
        let outcomes = await access.insert([one, two, other, unnamed, empty, one])
        #expect(outcomes.last == .superseded)
        #expect(Set(try await access.query(Filter())) == [two, other, empty])
        #expect(try await access.query(Filter(tags: ["d": ["a"]])) == [two])
    }

    @Test func keepsEveryRegularEvent() async throws {
        let access = try StoreAccess()
        let events = [1, 445, 1059, 9_999].map { Author.alice.event(kind: $0, at: 100) }
        _ = await access.insert(events + events)
        #expect(try await access.count(Filter()) == 4)
    }

    @Test func failedTransactionStoresNothing() async throws {
        let access = try StoreAccess()
        try await access.execute("ALTER TABLE tag RENAME TO lost")
        let plain = Author.alice.event("plain")
        let tagged = Author.alice.event("tagged", tags: [Tag("h", "x")])
        #expect(await access.insert(tagged) == .failed)
        try await access.execute("ALTER TABLE lost RENAME TO tag")
        #expect(await access.insert(plain) == .stored(sequence: 1))
        #expect(try await access.query(Filter()) == [plain])
    }

    // MARK: NIP-09

    @Test func deletesOwnEventsPermanently() async throws {
        let access = try StoreAccess()
        let mine = Author.alice.event("mine", tags: [Tag("h", "x")])
        let theirs = Author.bob.event("theirs")
        let later = Author.alice.event("published after its deletion")
        let deletion = Author.alice.event(
            kind: .deletion,
            tags: [.event(mine.id), .event(theirs.id), .event(later.id), Tag("e", "nonsense"), Tag("e")])
        let outcomes = await access.insert([mine, theirs, deletion, mine, later, theirs])
        #expect(Array(outcomes.suffix(3)) == [.deleted, .deleted, .duplicate])
        #expect(Set(try await access.query(Filter())) == [theirs, deletion])
        #expect(try await access.query(Filter(tags: ["h": ["x"]])).isEmpty)
    }

    @Test func deletesAddressesUpToRequestTime() async throws {
        let access = try StoreAccess()
        func version(_ at: UnixTime) -> Event {
            Author.alice.event("\(at)", kind: 30_023, at: at, tags: [Tag("d", "a:b")])
        }
        let address = Tag("a", "30023:\(Author.alice.publicKey.hex):a:b")
        let deletion = Author.alice.event(kind: .deletion, at: 200, tags: [address])
        let earlier = Author.alice.event(kind: .deletion, at: 150, tags: [address])
        let outcomes = await access.insert([version(100), deletion, earlier, version(199), version(200), version(201)])
        #expect(Array(outcomes.suffix(3)) == [.deleted, .deleted, .stored(sequence: 4)])
        #expect(try await access.query(Filter(kinds: [30_023])) == [version(201)])
    }

    @Test func cannotDeleteForeignAddressesOrDeletions() async throws {
        let access = try StoreAccess()
        let profile = Author.alice.event(kind: 0, at: 100)
        let hostile = Author.bob.event(kind: .deletion, at: 200, tags: [Tag("a", "0:\(Author.alice.publicKey.hex):")])
        let deletion = Author.alice.event(kind: .deletion, at: 150, tags: [.event(hostile.id)])
        let undo = Author.alice.event(kind: .deletion, at: 300, tags: [.event(deletion.id)])
        _ = await access.insert([profile, hostile, deletion, undo, deletion])
        #expect(Set(try await access.query(Filter())) == [profile, hostile, deletion, undo])
    }

    // MARK: File

    @Test func keepsEventsAndDeletionsAcrossRestarts() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("deeper/relay.sqlite").path
        let kept = Author.alice.event("kept")
        let deleted = Author.alice.event("gone")
        let deletion = Author.alice.event(kind: .deletion, tags: [.event(deleted.id)])
        let first = try StoreAccess(.file(path))
        _ = await first.insert([kept, deleted, deletion])
        try first.store.close()

        let second = try StoreAccess(.file(path))
        let outcomes = await second.insert([kept, deleted, Author.alice.event("new")])
        #expect(outcomes == [.duplicate, .deleted, .stored(sequence: 4)])
        #expect(try await second.count(Filter()) == 3)
        try second.store.close()
    }

    @Test func reportsUnopenableFile() {
        #expect(throws: RelayError(.storageFailed, "")) {
            try EventStore(.file("/dev/null/relay.sqlite"), synchronousCommits: false)
        }
    }
}
