import BotConfiguration
import BotProgram
import Nostr
import PikaCore

/// The key of a login: in a file, with a remote signer, or a new one.
struct LoginKey {
    var nsecFile: String?
    var ncryptsecFile: String?
    /// `bunker://…`.
    var bunker: String?

    /// The number of given keys; at most one is expected.
    var count: Int { [nsecFile, ncryptsecFile, bunker].compactMap { $0 }.count }

    /// Returns the credential that logs in.
    ///
    /// - Parameter password: called for an encrypted key.
    func credential(password: () throws -> String) throws -> LoginCredential {
        if let nsecFile {
            let text = try Self.text(of: nsecFile, isPrivate: true)
            guard let key = try? KeyPair(parsing: text) else {
                throw CommandError("\(nsecFile): expected nsec1… or 64 hex digits")
            }
            return .key(key)
        }
        if let ncryptsecFile {
            let text = try Self.text(of: ncryptsecFile, isPrivate: false)
            return .encryptedKey(text, password: try password())
        }
        return bunker.map { .bunker($0) } ?? .newKey
    }

    private static func text(of file: String, isPrivate: Bool) throws -> String {
        do {
            return String(decoding: try ProtectedFile.read(file, isPrivate: isPrivate), as: UTF8.self).trimmed
        } catch { throw CommandError(error.message) }
    }
}
