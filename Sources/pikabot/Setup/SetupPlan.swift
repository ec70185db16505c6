import BotConfiguration
import BotProgram
import Nostr

/// The paths of an account's configuration, key and state.
struct SetupPlace: Hashable, Sendable {
    let configuration: String
    let key: String
    let state: String
    /// The key and the state as the configuration refers to them.
    let keyReference: String
    let stateReference: String
    /// Whether a systemd service runs the account, under a user of its own.
    let isService: Bool

    /// A folder that contains everything and can be moved as a whole.
    static func folder(_ path: String, _ name: SetupName) -> SetupPlace {
        SetupPlace(
            configuration: "\(path)/\(name.text).yaml", key: "\(path)/secrets/\(name.text).key", state: "\(path)/state",
            keyReference: "{ file: secrets/\(name.text).key }", stateReference: "./state", isService: false)
    }

    /// The paths of `pikabot@NAME.service`.
    ///
    /// - Parameter root: the root directory of the system.
    static func service(_ name: SetupName, root: String = "") -> SetupPlace {
        SetupPlace(
            configuration: "\(root)/etc/pikabot/\(name.text).yaml", key: "\(root)/etc/pikabot/secrets/\(name.text).key",
            state: "\(root)/var/lib/pikabot/\(name.text)", keyReference: "{ credential: account.key }",
            stateReference: "/var/lib/pikabot/\(name.text)", isService: true)
    }

    /// The directories to create, with their permissions. A service's user must be able to read the configuration, and
    /// to reach its state.
    var directories: [(path: String, permissions: Int)] {
        [
            (configuration.directoryPath, isService ? 0o755 : 0o700), (key.directoryPath, 0o700),
            (state.directoryPath, isService ? 0o755 : 0o700), (state, 0o700),
        ]
    }

    var configurationPermissions: Int { isService ? 0o644 : 0o600 }
}

/// The configuration that `pikabot setup` writes.
struct SetupPlan: Hashable, Sendable {
    let answers: SetupAnswers
    let place: SetupPlace

    /// Directories that the sandbox of the service hides (`ProtectHome=`, `PrivateTmp=`).
    private static let hiddenFromServices = ["/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"]

    /// Throws if the bot could not run in this place.
    func validate() throws(CommandError) {
        guard place.isService, case .program(let path) = answers.bot else { return }
        guard let hidden = Self.hiddenFromServices.first(where: path.hasPrefix) else { return }
        throw CommandError(
            "bot: \(path) is hidden from the service, as everything in \(hidden) is; move it, for example to /opt")
    }

    var configuration: String {
        let relays = answers.relays.map { JSONValue.string($0.string).jsonText }.joined(separator: ", ")
        return """
            # Written by `pikabot setup`, which never changes it again: edit it freely. `pikabot check FILE` shows every default.
            version: 1
            relays: [\(relays)]
            state: { directory: \(place.stateReference) }
            accounts:
              - name: \(answers.name.text)
                # Anyone with this key can act as the bot. Keep a copy of \(place.key.fileName) in another place.
                key: \(place.keyReference)
                # Who may invite the account into a group: anyone, nobody, or { accept: allowlist, from: [npub1…] }.
                invites: \(invites)
                bots:
            \(bot)

            """
    }

    private var invites: String {
        switch answers.invites {
        case .anyone: "{ accept: anyone }"
        case .nobody: "{ accept: nobody }"
        case .allowlist(let keys):
            "{ accept: allowlist, from: [\(keys.map(\.npub).sorted().joined(separator: ", "))] }"
        }
    }

    private var bot: String {
        switch answers.bot {
        case .echo: "      - use: echo"
        case .notes: "      - use: notes"
        case .responder:
            """
                  - use: responder
                    with:
                      rules:
                        - { when: { command: ping }, reply: pong }
            """
        case .program(let path):
            """
                  - command: [\(Self.command(path).map { JSONValue.string($0).jsonText }.joined(separator: ", "))]
            """
        }
    }

    private static func command(_ path: String) -> [String] { path.hasSuffix(".py") ? ["python3", path] : [path] }
}

extension String {
    /// The part before the last slash.
    fileprivate var directoryPath: String { String(self[..<(lastIndex(of: "/") ?? startIndex)]) }

    fileprivate var fileName: Substring { self[(lastIndex(of: "/").map { index(after: $0) } ?? startIndex)...] }
}
