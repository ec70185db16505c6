import Foundation
import Testing

@testable import Storage

@Suite struct CrashPageTests {
    private let directory: TemporaryDirectory
    private let store: AccountStore

    init() throws {
        self.directory = try TemporaryDirectory()
        self.store = try self.directory.open()
    }

    private var file: URL { URL(fileURLWithPath: "\(self.directory.state)/in-hand") }

    @Test func theNextOneReadsWhatWasWrittenLast() throws {
        let page = try self.store.openCrashPage()
        #expect(page.read() == nil)
        for note in [Sample.bytes(1, count: CrashPage.capacity), [], Sample.bytes(2, count: 300)] {
            try page.write(note)
            #expect(try self.store.openCrashPage().read() == note)
        }
        #expect(throws: StoreError(.invalidChange, "")) {
            try page.write(Sample.bytes(3, count: CrashPage.capacity + 1))
        }
        #expect(page.read() == Sample.bytes(2, count: 300))
    }

    @Test func nobodyElseReadsIt() throws {
        let note = Sample.bytes(4, count: 64)
        try self.store.openCrashPage().write(note)
        let attributes = try FileManager.default.attributesOfItem(atPath: self.file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let bytes = try Data(contentsOf: self.file)
        #expect(bytes.count == 4_096)
        #expect(bytes.range(of: Data(note.prefix(16))) == nil)
    }

    @Test func whatIsNoPageIsNone() throws {
        let page = try self.store.openCrashPage()
        try page.write([1, 2, 3])
        let whole = try Data(contentsOf: self.file)
        var flipped = whole
        flipped[20] ^= 1
        let others = [
            Data(), Data([0]), whole.prefix(100), flipped, Data(count: 4_096), Data(repeating: 0xff, count: 4_096),
            Data([0, 1]) + Data(count: 4_094),
        ]
        for other in others {
            try other.write(to: self.file)
            #expect(try self.store.openCrashPage().read() == nil)
        }
    }
}
