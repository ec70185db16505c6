import Foundation
import Nostr
import PikaCore
import Testing

@testable import Storage

/// The core's journal of crashes on disk.
@Suite struct StoredCrashNotesTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private var folder: String { self.directory.state }

    /// Opens the store as the next process would after the previous one has ended.
    private func withStore(_ body: (AccountStore) async throws -> Void) async throws {
        let store = try self.directory.open()
        do { try await body(store) } catch {
            try? store.close()
            throw error
        }
        try store.close()
    }

    /// Simulates one crash in a pass and two in a part of it.
    private func crash(in subject: CrashSubject, at stage: CrashStage) async throws {
        try await self.withStore { store in _ = store.crashes.beginPass(stage) }
        let (journal, kept) = (self.file("core-in-hand"), self.file("kept"))
        for _ in 0..<2 {
            try await self.withStore { store in
                _ = store.crashes.beginPass(stage)
                // The process ends within the part, so its note stays.
                _ = store.crashes.part(subject, of: stage) { try? Data(contentsOf: journal).write(to: kept) }
            }
            try Data(contentsOf: kept).write(to: journal)
            try FileManager.default.removeItem(at: kept)
        }
    }

    private func file(_ name: String) -> URL { URL(fileURLWithPath: "\(self.folder)/\(name)") }

    @Test func skipsQuarantinedRowAndCanDropIt() async throws {
        try await self.withStore { store in
            try await store.commit((1...3).map { .putInbox(InboxRow(id: $0, payload: [UInt8($0)])) })
        }
        try await self.crash(in: .row(table: "inbox", key: "2"), at: .read)
        try await self.withStore { store in
            #expect(store.crashes.quarantine.map(\.subject.description) == ["row/inbox/2"])
            let state = try await store.load()
            #expect(state.inbox.map(\.id) == [1, 3])
            try await store.commit([.dropRow(table: "inbox", key: "2"), .dropRow(table: "meta", key: "1")])
        }
        try await self.withStore { store in
            let state = try await store.load()
            #expect(state.inbox.map(\.id) == [1, 3])
        }
    }

    @Test func skipsQuarantinedChange() async throws {
        let change = StoreChange.putInbox(InboxRow(id: 1, payload: [9]))
        try await self.crash(in: change.crashSubject, at: .store)
        try await self.withStore { store in
            #expect(store.crashes.holds(change.crashSubject))
            try await store.commit([change, .putInbox(InboxRow(id: 2, payload: [8]))])
            let state = try await store.load()
            #expect(state.inbox.map(\.id) == [2])
        }
    }

    @Test func readsQuarantineWithoutDatabase() async throws {
        try await self.crash(in: .row(table: "memo", key: "ab"), at: .read)
        try await self.withStore { _ in }
        try Data("no database".utf8).write(to: URL(fileURLWithPath: self.folder + "/state.sqlite"))
        let key = try TemporaryDirectory.key
        let entries = try AccountStore.quarantine(directory: self.folder, sealingKey: key)
        #expect(entries.map(\.subject.description) == ["row/memo/ab"])
        let none = try AccountStore.quarantine(directory: self.folder + "/none", sealingKey: key)
        #expect(none.isEmpty)
        let file = URL(fileURLWithPath: self.folder + "/quarantine")
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let sealed = try Data(contentsOf: file)
        #expect(sealed.range(of: Data("row/memo".utf8)) == nil, "names must be sealed")
        try Data([1, 2, 3]).write(to: file)
        #expect(throws: StoreError(.corrupt, "")) {
            _ = try AccountStore.quarantine(directory: self.folder, sealingKey: key)
        }
    }

}
