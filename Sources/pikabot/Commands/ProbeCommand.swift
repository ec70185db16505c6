import ArgumentParser
import BotProgram
import Nostr

extension Pikabot {
    struct ProbeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "probe", abstract: "Look once whether encrypted groups work over a relay.",
            discussion: """
                TARGET is a relay, as wss://HOST or ws://HOST:PORT. Some thirty events are written to it by throwaway keys; \
                nobody can read them, they end after an hour, and they are deleted again. Exit status: 0 if it is good \
                (warnings do not count), 1 if it is not, 2 if it cannot be reached.
                """)

        @Argument(help: ArgumentHelp("The relay.", valueName: "target")) var target: String
        @Flag(help: "Write nothing to a relay.") var readOnly = false
        @Option(help: "A PEM file of an authority that is trusted besides the system's; may be repeated.")
        var trust: [String] = []
        @Option(
            help: "A file with the key to log in with where a relay asks for it (NIP-42); else a throwaway key does.")
        var login: String?
        @Option(help: "Seconds that all of it may take.") var patience = 30
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            guard (1...300).contains(patience) else { throw ValidationError("--patience is 1 to 300 seconds") }
            guard (try? RelayURL(target)) != nil else {
                throw ValidationError("\(target) is no relay; write wss://HOST or ws://HOST:PORT")
            }
        }

        func run() async throws {
            var probe = RelayProbeRun(
                try RelayURL(target), writes: !readOnly, timeout: .seconds(patience), trustRootFiles: trust, json: json)
            if let login { try probe.logIn(with: login) }
            try await probe.run()
        }
    }
}
