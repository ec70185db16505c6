import Testing

@testable import FeedRules
@testable import Feeds

struct DirectoryScanTests {
    private func entry(_ name: String, bytes: Int64 = 1, changed: Int64 = 1) -> DirectoryScan.Entry {
        DirectoryScan.Entry(name: name, bytes: bytes, changed: changed)
    }

    @Test func waitsUntilFilesAreComplete() {
        var scan = DirectoryScan()
        #expect(scan.receive([entry("a")]) == [])
        #expect(scan.receive([entry("a", bytes: 2)]) == [])
        #expect(scan.receive([entry("a", bytes: 2, changed: 2)]) == [])
        #expect(scan.receive([entry("a", bytes: 2, changed: 2)]) == [entry("a", bytes: 2, changed: 2)])
    }

    @Test func ignoresFilesInProgress() {
        var scan = DirectoryScan()
        let found = ["", ".hidden", "a.tmp", "b.part"].map { entry($0) }
        #expect(scan.receive(found) == [])
        #expect(scan.receive(found) == [])
    }

    @Test func returnsTheOldestFirst() {
        var scan = DirectoryScan()
        let found = [entry("b", changed: 2), entry("a", changed: 2), entry("c", changed: 1)]
        _ = scan.receive(found)
        #expect(scan.receive(found).map(\.name) == ["c", "a", "b"])
    }

    @Test func boundsEachScan() {
        var scan = DirectoryScan()
        let found = (0..<2_000).map { entry("\($0)", changed: Int64($0)) }
        _ = scan.receive(found)
        #expect(scan.receive(found).count == DirectoryScan.maximumEntries)
    }

    @Test func newFileWithOldNameIsNew() {
        #expect(entry("a").id != entry("a", changed: 2).id)
        #expect(entry(String(repeating: "n", count: 600)).id.utf8.count == 64)
    }
}
