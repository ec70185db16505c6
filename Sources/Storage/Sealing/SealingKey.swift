import MLS
import Nostr
import ProcessSupport

/// The 32 bytes from which a database derives the keys that seal its values. Wiped with the last reference.
///
/// Anyone who has both this key and the state directory can read the account's groups and history.
package struct SealingKey: Sendable, CustomStringConvertible {
    package static let count = 32

    let secret: Secret

    /// Copies `bytes`; the caller must wipe its own copy. Throws `StoreError.Code.invalidKey` unless there are 32
    /// bytes.
    package init(bytes: some Collection<UInt8>) throws(StoreError) {
        guard bytes.count == Self.count else {
            throw StoreError(.invalidKey, "sealing key: expected \(Self.count) bytes, found \(bytes.count)")
        }
        self.secret = Secret(bytes)
    }

    /// Parses the text form used in files, variables and command output: 64 hexadecimal digits, optionally surrounded
    /// by white space.
    package init(parsing text: some StringProtocol) throws(StoreError) {
        let end = text.lastIndex { !$0.isWhitespace }.map { text.index(after: $0) } ?? text.startIndex
        guard var bytes = Hex.decode(text[..<end].drop { $0.isWhitespace }), bytes.count == Self.count else {
            throw StoreError(.invalidKey, "sealing key: expected exactly \(2 * Self.count) hexadecimal digits")
        }
        defer { Sodium.wipe(&bytes) }
        try self.init(bytes: bytes)
    }

    /// Returns a new key from the system's generator.
    package static func random() -> SealingKey {
        SealingKey(secret: Secret(count: Self.count, Sodium.fillRandomly))
    }

    private init(secret: Secret) { self.secret = secret }

    package var description: String { "SealingKey" }
}

extension SealingKey {
    /// Reads the key from a file of mode 0600 that this user or root owns.
    package static func load(file path: String) throws(StoreError) -> SealingKey {
        guard let key = try Self.read(path) else {
            throw StoreError(.invalidKey, "\(path): no such file; restore the sealing key from a backup")
        }
        return key
    }

    /// Reads the key from a file, or creates a random one in a new file of mode 0600.
    ///
    /// Of several concurrent processes one creates the file, and all get its key. A database written with a lost key
    /// stays unreadable: opening it with the new one throws `StoreError.Code.wrongKey`.
    package static func loadOrCreate(file path: String) throws(StoreError) -> SealingKey {
        if let key = try Self.read(path) { return key }
        let key = SealingKey.random()
        return try key.create(path) ? key : try Self.load(file: path)
    }

    /// Writes the key to a new file of mode 0600; throws if the file already exists.
    package func save(newFile path: String) throws(StoreError) {
        guard try self.create(path) else { throw StoreError(.io, "\(path): already exists") }
    }

    /// Returns false if the file already exists.
    private func create(_ path: String) throws(StoreError) -> Bool {
        var text = self.secret.withUnsafeBytes { Array(Hex.encode($0).utf8) } + [0x0a]
        defer { Sodium.wipe(&text) }
        return try StoreFile.create(path, text)
    }

    /// Returns nil if the file does not exist.
    private static func read(_ path: String) throws(StoreError) -> SealingKey? {
        guard var bytes = try KeyFile.contents(path) else { return nil }
        defer { Sodium.wipe(&bytes) }
        do { return try SealingKey(parsing: String(decoding: bytes, as: UTF8.self)) } catch {
            throw StoreError(error.code, "\(path): \(error.message)")
        }
    }
}
