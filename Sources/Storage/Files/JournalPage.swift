import Foundation
import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A note for the account's next process, which survives any crash of this one: a sealed file of one page, such as
/// `in-hand`.
///
/// Written without waiting for the disk: the system keeps what a killed process wrote. It does not survive a crash of
/// the system itself; then the note may be an older one, or missing.
package final class JournalPage: Sendable {
    /// The maximum size of a note in bytes.
    package static let capacity = 4_000

    /// The size of the file. A note is written with one call, so that no process reads half of it.
    private static let size = 4_096

    private let path: String
    private let descriptor: Int32
    private let place: Place
    private let sealer: Sealer

    init(_ directory: String, _ name: String, _ place: Place, _ sealer: Sealer) throws(StoreError) {
        self.path = "\(directory)/\(name)"
        self.place = place
        self.descriptor = try StoreFile.open(self.path, O_RDWR | O_CREAT)
        self.sealer = sealer
        guard ftruncate(self.descriptor, off_t(Self.size)) == 0 else {
            let failure = StoreError(errno: errno, "cannot resize", self.path)
            close(self.descriptor)
            throw failure
        }
    }

    deinit { close(self.descriptor) }

    /// Returns the note written last; nil if absent, empty or unreadable.
    package func read() -> [UInt8]? {
        var page = [UInt8](repeating: 0, count: Self.size)
        guard pread(self.descriptor, &page, page.count, 0) == page.count else { return nil }
        let length = Int(page[0]) << 8 | Int(page[1])
        guard length > 0, length <= page.count - 2 else { return nil }
        return try? self.sealer.openBytes(Data(page[2..<2 + length]), in: self.place)
    }

    /// Writes a note. Throws `StoreError.Code.invalidChange` for more than ``capacity`` bytes, and the system's
    /// errors.
    package func write(_ note: [UInt8]) throws(StoreError) {
        guard note.count <= Self.capacity else {
            throw StoreError(
                .invalidChange, "\(self.path): expected at most \(Self.capacity) bytes, found \(note.count)")
        }
        // Every second note is empty, which says nothing that would have to be sealed.
        let sealed = note.isEmpty ? Data() : self.sealer.seal(note, in: self.place)
        // The length comes first, so the rest of a longer note before it needs no overwriting.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 + sealed.count)
        bytes += [UInt8(sealed.count >> 8), UInt8(sealed.count & 0xff)]
        bytes += sealed
        let count = pwrite(self.descriptor, bytes, bytes.count, 0)
        guard count < 0 || count == bytes.count else { throw StoreError(.io, "\(self.path): written only in part") }
        guard count > 0 else { throw StoreError(errno: errno, "cannot write", self.path) }
    }
}

extension AccountStore {
    /// Opens the account's page; valid as long as this store holds its directory.
    package func openJournalPage() throws(StoreError) -> JournalPage {
        try JournalPage(self.directory, "in-hand", Place(.journalPage, 0), self.sealer)
    }
}
