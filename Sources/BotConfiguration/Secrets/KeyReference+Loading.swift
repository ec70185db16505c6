import BotKit
import Foundation
package import Nostr
import PikaCore

extension KeyReference {
    /// The deadline of a command.
    static let commandLimit = Duration.seconds(10)

    /// Loads the 32 bytes of the secret key, which are valid.
    ///
    /// Blocks on the file or the command, on the latter for at most ten seconds.
    package func load(environment: [String: String]) throws(KeyLoadingError) -> [UInt8] {
        try loadKeyPair(environment: environment).secretBytes
    }

    /// Loads the key as a key pair.
    package func loadKeyPair(environment: [String: String]) throws(KeyLoadingError) -> KeyPair {
        try loadKeyPair(environment: environment, commandLimit: Self.commandLimit)
    }

    func loadKeyPair(environment: [String: String], commandLimit: Duration) throws(KeyLoadingError) -> KeyPair {
        if case .encrypted(let key, let password) = self {
            return try Self.decrypt(key, password, environment, commandLimit)
        }
        if case .bunker = self {
            throw KeyLoadingError(.remote, "a remote signer holds the key; this command needs the key itself")
        }
        let text = try line(environment, commandLimit)
        // The cause is omitted, since it is about secret bytes.
        guard let pair = try? KeyPair(parsing: text) else {
            throw KeyLoadingError(
                .malformed,
                "\(source): expected only an nsec or 64 hex digits (one trailing line break is allowed); "
                    + "put the account's secret key there, and nothing else")
        }
        return pair
    }

    /// Loads a secret other than a key: one line of text, such as a token. Blocks like ``load(environment:)``.
    package func loadSecret(environment: [String: String]) throws(KeyLoadingError) -> String {
        let text = try line(environment, Self.commandLimit, isASCII: false)
        guard !text.isEmpty, !text.contains(where: { $0.isNewline || $0 == "\0" }) else {
            throw KeyLoadingError(.malformed, "\(source): expected exactly one line of text")
        }
        return text
    }

    private static func decrypt(
        _ key: KeyReference, _ password: KeyReference, _ environment: [String: String], _ limit: Duration
    ) throws(KeyLoadingError) -> KeyPair {
        let text = try key.line(environment, limit)
        let encrypted: NIP49.EncryptedKey
        do { encrypted = try NIP49.EncryptedKey(parsing: text) } catch {
            let reason = error.code == .tooCostly ? "; \(error.message)" : ""
            throw KeyLoadingError(
                .malformed,
                "\(key.source): expected only an ncryptsec (one trailing line break is allowed)\(reason)")
        }
        let typed = try password.line(environment, limit, isASCII: false)
        do { return try encrypted.decrypt(password: NIP49.Password(typed)) } catch {
            guard error.code == .wrongPassword else {
                throw KeyLoadingError(.malformed, "\(key.source): \(error.message)")
            }
            throw KeyLoadingError(.wrongPassword, "\(password.source): wrong password for \(key.source)")
        }
    }

    /// Loads the text, without a trailing line feed.
    private func line(
        _ environment: [String: String], _ commandLimit: Duration, isASCII: Bool = true
    ) throws(KeyLoadingError) -> String {
        var text = try Self.text(of: try bytes(environment, commandLimit), source, isASCII: isASCII)
        if text.hasSuffix("\n") { text.removeLast() }
        return text
    }

    /// Loads the URL of the remote signer that holds the key; blocks like ``load(environment:)``.
    package func loadBunker(environment: [String: String]) throws(KeyLoadingError) -> BunkerURL {
        guard case .bunker(let reference) = self else {
            throw KeyLoadingError(
                .malformed, "\(source): expected a remote signer, found a reference to the key itself")
        }
        let text = try reference.line(environment, Self.commandLimit)
        // The cause is omitted for the same reason.
        guard let url = try? BunkerURL(text) else {
            throw KeyLoadingError(
                .malformed,
                "\(reference.source): expected only bunker://KEY?relay=ADDRESS&secret=SECRET "
                    + "(one trailing line break is allowed)")
        }
        return url
    }

    /// The target of the reference, for messages.
    var source: String {
        switch self {
        case .file(let path): path
        case .environment(let name): "environment variable \(name)"
        case .credential(let name): "credential \(name)"
        case .command(let arguments): "command \(arguments.first ?? "")"
        case .encrypted(let key, _): key.source
        case .bunker(let address): address.source
        }
    }

    private static func text(
        of bytes: [UInt8], _ source: String, isASCII: Bool
    ) throws(KeyLoadingError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self), !isASCII || text.allSatisfy(\.isASCII) else {
            throw KeyLoadingError(.malformed, "\(source): expected ASCII or UTF-8 text, found other bytes")
        }
        return text
    }

    private func bytes(_ environment: [String: String], _ commandLimit: Duration) throws(KeyLoadingError) -> [UInt8] {
        switch self {
        case .file(let path):
            return try ProtectedFile.read(path, isPrivate: true)
        case .environment(let name):
            guard let value = environment[name] else {
                throw KeyLoadingError(.unreadable, "environment variable \(name) is not set")
            }
            return Array(value.utf8)
        case .credential(let name):
            guard let folder = environment["CREDENTIALS_DIRECTORY"] else {
                throw KeyLoadingError(
                    .unreadable,
                    "credential \(name): CREDENTIALS_DIRECTORY is not set; "
                        + "start under systemd with LoadCredential=\(name):PATH")
            }
            return try ProtectedFile.read(folder + "/" + name, isPrivate: false)
        case .command(let arguments):
            return try Self.output(of: arguments, environment, commandLimit)
        case .encrypted(let key, _):
            return try key.bytes(environment, commandLimit)
        case .bunker(let address): return try address.bytes(environment, commandLimit)
        }
    }

    private static func output(
        of arguments: [String], _ environment: [String: String], _ limit: Duration
    ) throws(KeyLoadingError) -> [UInt8] {
        let program = arguments.first ?? ""
        guard let path = executablePath(program, environment) else {
            throw KeyLoadingError(.commandFailed, "command \(program): program not found")
        }
        let process = Process()
        let pipe = Pipe()
        let ended = DispatchSemaphore(value: 0)
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = Array(arguments.dropFirst())
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.terminationHandler = { _ in ended.signal() }
        do {
            try process.run()
        } catch {
            throw KeyLoadingError(.commandFailed, "command \(program): cannot be started")
        }
        guard ended.wait(timeout: .now() + limit.inSeconds) == .success else {
            kill(process.processIdentifier, SIGKILL)
            throw KeyLoadingError(.commandFailed, "command \(program): did not end within \(limit.configurationText)")
        }
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw KeyLoadingError(
                .commandFailed, "command \(program): ended with status \(process.terminationStatus)")
        }
        let descriptor = pipe.fileHandleForReading.fileDescriptor
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        return try ProtectedFile.contents(of: descriptor, "command \(program)")
    }

    /// Returns the path of a program: itself if it contains a slash, otherwise in the first folder of `PATH` that
    /// contains it.
    static func executablePath(_ program: String, _ environment: [String: String]) -> String? {
        let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        let candidates = program.contains("/") ? [program] : folders.map { "\($0)/\(program)" }
        return candidates.first { path in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
                && FileManager.default.isExecutableFile(atPath: path)
        }
    }
}

extension Duration {
    fileprivate var inSeconds: Double { self / .seconds(1) }
}
