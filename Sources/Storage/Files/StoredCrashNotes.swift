import Foundation
package import PikaCore
import ProcessSupport
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The core's crash-safe journal in the account's directory: the note `core-in-hand`, and the list `quarantine`.
///
/// The list is sealed under the sealing key alone, not under a database's key, so that it can be read when the database
/// cannot.
final class StoredCrashNotes: CrashNotes {
    private static let place = Place(.journalPage, 2)

    private let page: JournalPage
    private let path: String
    private let sealer: Sealer

    init(_ directory: String, _ sealer: Sealer, _ key: SealingKey) throws(StoreError) {
        self.page = try JournalPage(directory, "core-in-hand", Place(.journalPage, 1), sealer)
        self.path = Self.path(in: directory)
        self.sealer = Self.sealer(key)
    }

    func readInFlight() -> [UInt8]? { self.page.read() }

    func writeInFlight(_ bytes: [UInt8]) -> Bool { (try? self.page.write(bytes)) != nil }

    func readQuarantine() -> [UInt8]? { try? Self.read(self.path, self.sealer) }

    func writeQuarantine(_ bytes: [UInt8]) -> Bool {
        let sealed = Array(self.sealer.seal(bytes, in: Self.place))
        return (try? StoreFile.replace(self.path, sealed)) != nil
    }

    // MARK: Without a store

    fileprivate static func path(in directory: String) -> String { "\(directory)/quarantine" }

    /// Returns the sealer of the quarantine list, derived with the number 0, which no database has.
    fileprivate static func sealer(_ key: SealingKey) -> Sealer { Sealer(key, database: 0) }

    fileprivate static func read(_ path: String, _ sealer: Sealer) throws(StoreError) -> [UInt8]? {
        guard access(path, F_OK) == 0 else { return nil }
        let descriptor = try StoreFile.open(path, O_RDONLY)
        defer { close(descriptor) }
        let sealed = try StoreFile.read(upTo: QuarantineEntry.maximumListBytes, from: descriptor, path)
        do { return try sealer.openBytes(Data(sealed), in: Self.place) } catch {
            throw StoreError(.corrupt, "\(path): not written with this sealing key", cause: error)
        }
    }
}

extension AccountStore {
    /// Returns an account's quarantine without opening its store, even while a process has the store open.
    ///
    /// Throws ``StoreError`` if the list exists and cannot be read.
    package static func quarantine(
        directory: String, sealingKey: SealingKey
    ) throws(StoreError) -> [QuarantineEntry] {
        let path = StoredCrashNotes.path(in: directory)
        guard let bytes = try StoredCrashNotes.read(path, StoredCrashNotes.sealer(sealingKey)) else { return [] }
        return QuarantineEntry.list(bytes)
    }
}
