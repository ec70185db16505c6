extension NewBotPackage {
    var readme: String {
        """
        # \(name.text)

        A bot for end-to-end encrypted groups, on [pikabot](\(link)).

        | | |
        |---|---|
        | `Sources/\(name.type)` | the bot |
        | `Sources/\(name.program)` | the program that runs it |
        | `Tests/\(name.tests)` | its tests, in encrypted groups in one process |
        | `\(name.text).yaml` | the configuration: relays, account, permissions |
        | `\(keyFile)` | the bot's key, created with this package and ignored by git |

        Requires Swift 6.2 or later, and on Debian `apt-get install libsodium-dev libsecp256k1-dev libsqlite3-dev pkg-config`.

        ```
        swift test
        swift run \(name.text) check \(name.text).yaml     # validates and prints the configuration
        swift run \(name.text) doctor \(name.text).yaml    # checks the installation, relay by relay
        swift run \(name.text) run \(name.text).yaml       # runs the bot
        ```

        """
    }

    private var link: String {
        switch source {
        case .path(let path): "\(path)/README.md"
        case .repository(let address, _): address
        }
    }
}
