import Foundation
import Testing

@testable import Storage

@Suite struct JournalPageTests {
    private let directory: TemporaryDirectory
    private let store: AccountStore

    init() throws {
        self.directory = try TemporaryDirectory()
        self.store = try self.directory.open()
    }

    private var file: URL { URL(fileURLWithPath: "\(self.directory.state)/in-hand") }

    @Test func reopenedFileHoldsTheLastWrite() throws {
        let page = try self.store.openJournalPage()
        #expect(page.read() == nil)
        for note in [Sample.bytes(1, count: JournalPage.capacity), [], Sample.bytes(2, count: 300)] {
            try page.write(note)
            #expect(try self.store.openJournalPage().read() == (note.isEmpty ? nil : note))
        }
        #expect(throws: StoreError(.invalidChange, "")) {
            try page.write(Sample.bytes(3, count: JournalPage.capacity + 1))
        }
        #expect(page.read() == Sample.bytes(2, count: 300))
    }

    @Test func fileIsPrivateAndSealed() throws {
        let note = Sample.bytes(4, count: 64)
        try self.store.openJournalPage().write(note)
        let attributes = try FileManager.default.attributesOfItem(atPath: self.file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let bytes = try Data(contentsOf: self.file)
        #expect(bytes.count == 4_096)
        #expect(bytes.range(of: Data(note.prefix(16))) == nil)
    }

    @Test func invalidFilesReadAsEmpty() throws {
        let page = try self.store.openJournalPage()
        try page.write([1, 2, 3])
        let whole = try Data(contentsOf: self.file)
        var flipped = whole
        flipped[20] ^= 1
        let others = [
            Data(), Data([0]), whole.prefix(40), flipped, Data(count: 4_096), Data(repeating: 0xff, count: 4_096),
            Data([0, 1]) + Data(count: 4_094),
        ]
        for other in others {
            try other.write(to: self.file)
            #expect(try self.store.openJournalPage().read() == nil)
        }
    }
}
