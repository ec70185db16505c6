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
        | `\(name.text).yaml` | what is run: relays, account, who may do what |
        | `\(keyFile)` | the bot's key, made with this package and kept out of git |

        It needs Swift 6.2 or later, and on Debian `apt-get install libsodium-dev libsecp256k1-dev libsqlite3-dev pkg-config`.

        ```
        swift test
        swift run \(name.text) check \(name.text).yaml     # what is wrong with the configuration, or all of it
        swift run \(name.text) doctor \(name.text).yaml    # what is wrong with the installation, relay by relay
        swift run \(name.text) run \(name.text).yaml       # the bot
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
