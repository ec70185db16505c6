import BotConfiguration
import BotProgram
import Foundation
import Nostr
import ProcessSupport

/// The files of a set-up account, created or found.
struct SetupFiles: Sendable {
    let place: SetupPlace
    let configuration: Configuration
    let account: AccountConfiguration
    let key: KeyPair
    /// The files that this run created, and those that it found and did not touch.
    private(set) var created: [String]
    private(set) var kept: [String]

    /// The directory of the account's state, which may have been moved by an edit.
    var accountDirectory: String { Self.accountDirectory(configuration, account) }

    private static func accountDirectory(_ configuration: Configuration, _ account: AccountConfiguration) -> String {
        "\(configuration.stateDirectory)/\(account.name)"
    }

    /// Reads an existing configuration; nil if there is none.
    ///
    /// - Throws: ``BotConfiguration/ConfigurationError`` for an invalid file, and `CommandError` if it lacks the account
    ///   or differs from the options of the command line.
    static func existing(
        _ name: SetupName, _ place: SetupPlace, _ draft: SetupDraft
    ) throws -> Configuration? {
        guard FileManager.default.fileExists(atPath: place.configuration) else { return nil }
        let configuration = try ConfigurationFile(path: place.configuration, registry: .included).configuration
        guard let account = configuration.accounts.first(where: { $0.name == name.text }) else {
            throw CommandError("\(place.configuration) exists and has no account \(name.text); choose another name")
        }
        let conflicts = draft.conflicts(with: configuration, account)
        guard conflicts.isEmpty else {
            throw CommandError(
                "\(place.configuration) exists and differs from \(conflicts.joined(separator: ", ")): it is never "
                    + "overwritten. Edit it, omit the options, or choose another name")
        }
        return configuration
    }

    /// Creates the missing ones of key and configuration; never changes an existing one.
    ///
    /// The key is first: a configuration without it would be useless, and the next run finds it.
    static func create(_ plan: SetupPlan) throws -> SetupFiles {
        let place = plan.place
        try plan.validate()
        let file = try ConfigurationFile(text: plan.configuration, path: place.configuration, registry: .included)
        try makeDirectories(place)
        var files = try SetupFiles(place, file.configuration, plan.answers.name)
        let isNew = try PrivateFile<CommandError>.create(place.configuration, Array(plan.configuration.utf8))
        guard isNew else {
            throw CommandError("\(place.configuration) was created by another program meanwhile; run the command again")
        }
        if place.isService {
            try FileManager.default.setAttributes(
                [.posixPermissions: place.configurationPermissions], ofItemAtPath: place.configuration)
        }
        files.created.append(place.configuration)
        return files
    }

    /// Opens the files of an existing configuration, and creates the key if it is missing.
    ///
    /// - Throws: `CommandError` if the account has state but no key: a new key would be another account.
    init(_ place: SetupPlace, keeping configuration: Configuration, _ name: SetupName) throws {
        if let account = configuration.accounts.first(where: { $0.name == name.text }),
            Self.usesKeyFile(account.key, place), !FileManager.default.fileExists(atPath: place.key)
        {
            let state = Self.accountDirectory(configuration, account)
            guard !FileManager.default.fileExists(atPath: state) else {
                throw CommandError(
                    "\(place.key) is missing, and \(state) belongs to its account: restore the key from your copy, or "
                        + "choose another name")
            }
        }
        try Self.makeDirectories(place)
        try self.init(place, configuration, name)
        kept.append(place.configuration)
    }

    private init(_ place: SetupPlace, _ configuration: Configuration, _ name: SetupName) throws {
        guard let account = configuration.accounts.first(where: { $0.name == name.text }) else {
            throw CommandError("\(place.configuration) has no account \(name.text)")
        }
        self.place = place
        self.configuration = configuration
        self.account = account
        created = []
        kept = []
        guard Self.usesKeyFile(account.key, place) else {
            do throws(KeyLoadingError) {
                key = try account.key.loadKeyPair(environment: ProcessInfo.processInfo.environment)
            } catch {
                throw CommandError("\(place.configuration) refers to a key that cannot be read here: \(error.message)")
            }
            return
        }
        var generator = SystemRandomNumberGenerator()
        let new = KeyPair.generate(using: &generator)
        if try PrivateFile<CommandError>.create(place.key, Array((Hex.encode(new.secretBytes) + "\n").utf8)) {
            key = new
            created.append(place.key)
            return
        }
        do throws(KeyLoadingError) {
            key = try KeyReference.file(place.key).loadKeyPair(environment: [:])
        } catch { throw CommandError(error.message) }
        kept.append(place.key)
    }

    /// Whether the account's key is in the file of the place, and not elsewhere after an edit.
    private static func usesKeyFile(_ reference: KeyReference, _ place: SetupPlace) -> Bool {
        switch reference {
        case .credential("account.key"): place.isService
        case .file(let path):
            URL(fileURLWithPath: path).standardizedFileURL == URL(fileURLWithPath: place.key).standardizedFileURL
        default: false
        }
    }

    /// Creates missing directories; existing ones keep their permissions.
    private static func makeDirectories(_ place: SetupPlace) throws {
        for directory in place.directories where !FileManager.default.fileExists(atPath: directory.path) {
            try PrivateFile<CommandError>.createDirectories(directory.path)
            try FileManager.default.setAttributes(
                [.posixPermissions: directory.permissions], ofItemAtPath: directory.path)
        }
    }
}
