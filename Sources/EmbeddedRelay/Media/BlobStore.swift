import Errors
import Foundation
import NIOHTTP1
import Nostr
import Synchronization

/// Content-addressed files in one folder: `ab/abcd…`, named by their SHA-256, with a descriptor in `ab/abcd….json`.
///
/// All operations block on the disk: call them from a blocking thread.
final class BlobStore: Sendable {
    let maximumBytes: Int
    let space: BlobSpace
    private let directory: String
    private let isTemporary: Bool
    /// Serialises changes of the descriptors; the number makes draft names unique.
    private let changes = Mutex<UInt64>(0)

    /// - Parameters:
    ///   - directory: nil for a temporary folder that ``close()`` removes.
    ///   - quota: bytes that all files together may use on disk.
    init(directory: String?, maximumBytes: Int, quota: Int64) throws(RelayError) {
        self.maximumBytes = maximumBytes
        space = BlobSpace(quota: quota)
        isTemporary = directory == nil
        let path =
            directory
            ?? FileManager.default.temporaryDirectory.appendingPathComponent("relay-media-\(UUID().uuidString)").path
        self.directory = path
        // A missing folder is created at the first upload: many relays get none.
        guard FileManager.default.fileExists(atPath: path) else { return }
        try Self.makeFolder(path + "/draft")
        Self.removeDrafts(path + "/draft")
        forEachFile { space.count(Self.size($0) ?? 0) }
    }

    /// Removes the folder if it is temporary.
    func close() {
        if isTemporary { try? FileManager.default.removeItem(atPath: directory) }
    }

    private static func makeFolder(_ path: String) throws(RelayError) {
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw RelayError(.storageFailed, "cannot create the media folder \(path)", cause: error) }
    }

    /// Removes the drafts of uploads that a crash interrupted.
    private static func removeDrafts(_ folder: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            try? FileManager.default.removeItem(atPath: folder + "/" + name)
        }
    }

    // MARK: Files

    /// Starts an upload, whose hash is not known yet.
    func begin() throws -> IncomingBlob {
        let number = changes.withLock { number in
            number += 1
            return number
        }
        try Self.makeFolder(directory + "/draft")
        return try IncomingBlob(
            path: "\(directory)/draft/\(getpid())-\(number)", maximumBytes: maximumBytes, space: space)
    }

    /// Stores a complete upload under its hash, which the caller has verified; a repeated file only adds an owner.
    func keep(
        _ blob: IncomingBlob, hash: Bytes32, size: Int, type: String, owner: PublicKey, now: UnixTime
    ) throws -> BlobDescriptor {
        try changes.withLock { _ in
            if var known = descriptor(of: hash), FileManager.default.fileExists(atPath: path(of: hash)) {
                blob.discard()
                guard !known.owners.contains(owner) else { return known }
                guard known.owners.count < Self.maximumOwners else {
                    throw HTTPRefusal(
                        .insufficientStorage, "the file already has the maximum of \(Self.maximumOwners) owners")
                }
                known.owners.append(owner)
                try write(known)
                return known
            }
            try Self.makeFolder(folder(of: hash))
            let new = BlobDescriptor(hash: hash, size: size, type: type, uploaded: now, owners: [owner])
            // Write the descriptor first: a file without one would have no owner.
            try write(new)
            try blob.move(to: path(of: hash))
            return new
        }
    }

    /// Maximum number of a file's owners: anyone can create keys, and the descriptor lists all of them.
    static let maximumOwners = 1_000

    func find(_ hash: Bytes32) -> (BlobDescriptor, OpenFile)? {
        guard let descriptor = descriptor(of: hash), let file = OpenFile(path(of: hash)) else { return nil }
        return (descriptor, file)
    }

    /// Maximum number of files in one listing, the newest ones.
    static let maximumListed = 1000

    /// Returns the files that a key has uploaded within the time bounds, newest first. Reads all descriptors.
    func list(of owner: PublicKey, since: UnixTime, until: UnixTime) -> [BlobDescriptor] {
        var found: [BlobDescriptor] = []
        forEachFile { path in
            guard let hash = Bytes32(hex: String(path.suffix(64))), let descriptor = descriptor(of: hash),
                descriptor.owners.contains(owner), since <= descriptor.uploaded, descriptor.uploaded <= until
            else { return }
            found.append(descriptor)
        }
        found.sort { ($0.uploaded, $0.hash.hex) > ($1.uploaded, $1.hash.hex) }
        return Array(found.prefix(Self.maximumListed))
    }

    enum Deletion {
        case done
        case unknown
        case notOwner
    }

    /// Removes an owner of the file, and the file with its last owner.
    func delete(_ hash: Bytes32, owner: PublicKey) throws -> Deletion {
        try changes.withLock { _ in
            guard var known = descriptor(of: hash), FileManager.default.fileExists(atPath: path(of: hash)) else {
                return .unknown
            }
            guard known.owners.contains(owner) else { return .notOwner }
            known.owners.removeAll { $0 == owner }
            guard known.owners.isEmpty else {
                try write(known)
                return .done
            }
            for path in [path(of: hash), path(of: hash) + ".json"] {
                let size = Self.size(path)
                try FileManager.default.removeItem(atPath: path)
                if let size { space.release(size) }
            }
            return .done
        }
    }

    private func descriptor(of hash: Bytes32) -> BlobDescriptor? {
        FileManager.default.contents(atPath: path(of: hash) + ".json").flatMap { BlobDescriptor(stored: Array($0)) }
    }

    private func write(_ descriptor: BlobDescriptor) throws {
        let path = path(of: descriptor.hash) + ".json"
        let old = Self.size(path)
        let stored = descriptor.stored
        try space.resize(from: old, to: stored.count)
        do { try Data(stored).write(to: URL(fileURLWithPath: path), options: .atomic) } catch {
            if let old { try space.resize(from: stored.count, to: old) } else { space.release(stored.count) }
            throw error
        }
    }

    /// Calls `body` with the path of every file and descriptor, except drafts.
    private func forEachFile(_ body: (String) -> Void) {
        let files = FileManager.default
        for folder in (try? files.contentsOfDirectory(atPath: directory)) ?? [] where folder.utf8.count == 2 {
            for name in (try? files.contentsOfDirectory(atPath: directory + "/" + folder)) ?? [] {
                body("\(directory)/\(folder)/\(name)")
            }
        }
    }

    /// Returns nil if the file does not exist.
    private static func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    private func folder(of hash: Bytes32) -> String { "\(directory)/\(hash.hex.prefix(2))" }
    private func path(of hash: Bytes32) -> String { "\(folder(of: hash))/\(hash.hex)" }
}
