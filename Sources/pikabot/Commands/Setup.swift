import ArgumentParser
import BotConfiguration
import BotProgram
import Foundation
import Logging
import Nostr

extension Pikabot {
    struct Setup: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set up a bot: its configuration and key, and its public profile and key packages.",
            discussion: """
                Asks for everything that is not given. The files are NAME.yaml, secrets/NAME.key and state, in the \
                directory NAME, or with --service those of the systemd service pikabot@NAME.

                Existing files are never changed: another run keeps key and configuration, creates what is missing, and \
                publishes again. Options that differ from the existing configuration are an error.
                """)
        private static let standardRelays = 3

        @Argument(help: "Name of the account: 1 to 32 characters from a-z, 0-9 and \"-\".") var name: String?
        @Option(name: .customLong("relay"), help: "Relay of the bot; may be repeated. (default: three public relays)")
        var relays: [String] = []
        @Option(help: "Who may invite it into groups: anyone, nobody, or an npub; an npub may be repeated.")
        var invites: [String] = []
        @Option(help: "The bot: echo, notes, responder, or the path of a program. (default: echo)") var bot: String?
        @Option(help: "The directory to write to. (default: NAME)") var directory: String?
        @Flag(help: "Write the files of the systemd service pikabot@NAME; needs root.") var service = false
        @Flag(help: "Publish nothing: the bot does when it runs.") var offline = false
        @Flag(help: "Ask nothing, for scripts: --invites is then required.") var yes = false
        @Flag(help: "Print JSON on a terminal too; output to a pipe is always JSON.") var json = false

        func validate() throws {
            guard !service || directory == nil else {
                throw ValidationError("--service has its own directories; omit --directory")
            }
            guard directory?.isEmpty != true else { throw ValidationError("--directory: expected a directory") }
        }

        func run() async throws {
            StandardErrorLog.bootstrap(level: .error)
            guard !service || geteuid() == 0 else {
                throw CommandError("--service writes to /etc/pikabot; run the command as root, such as with sudo")
            }
            let name = try chosenName()
            let place = service ? SetupPlace.service(name) : .folder(directory ?? name.text, name)
            let report = try await Self.setUp(
                name, place, try draft(), questions: yes ? nil : .terminal,
                standardRelays: Array(try ClientOptions.standardRelays().prefix(Self.standardRelays)), offline: offline)
            show(report)
            if case .failed(let reason) = report.publication {
                throw CommandError("nothing is published: \(reason). Run the command again, or start the bot")
            }
        }

        /// Creates what is missing and publishes it.
        ///
        /// - Parameter questions: nil for defaults instead of questions.
        static func setUp(
            _ name: SetupName, _ place: SetupPlace, _ draft: SetupDraft, questions: SetupQuestions?,
            standardRelays: [RelayURL], offline: Bool
        ) async throws -> SetupReport {
            let files: SetupFiles
            do {
                if let configuration = try SetupFiles.existing(name, place, draft) {
                    files = try SetupFiles(place, keeping: configuration, name)
                } else {
                    let answers =
                        if let questions {
                            try draft.completed(name: name, standardRelays: standardRelays, by: questions)
                        } else {
                            try draft.completed(name: name, standardRelays: standardRelays)
                        }
                    files = try SetupFiles.create(SetupPlan(answers: answers, place: place))
                }
            } catch let error as ConfigurationError {
                for problem in error.problems { Console.printError("error: \(problem)") }
                throw ExitCode.wrongConfiguration
            }
            let publication =
                offline
                ? SetupPublication.left("--offline was given; the bot publishes them itself")
                : await SetupPublication.publish(files)
            return SetupReport(files: files, publication: publication)
        }

        private func chosenName() throws -> SetupName {
            if let name { return try SetupName(name) }
            return try yes
                ? SetupName(SetupDraft.standardName) : SetupQuestions.terminal.name(standard: SetupDraft.standardName)
        }

        private func draft() throws -> SetupDraft {
            SetupDraft(
                relays: relays.isEmpty ? nil : try [RelayURL](setup: relays),
                invites: invites.isEmpty ? nil : try InvitePolicy(setup: invites), bot: try bot.map { try SetupBot($0) }
            )
        }

        private func show(_ report: SetupReport) {
            guard !json, isatty(STDOUT_FILENO) == 1 else { return Console.printText(report.json.prettyText) }
            if let code = QRCode(report.link, level: .low) {
                Console.printControl(code.terminalText(isColored: true) + "\n")
            }
            Console.printText(report.text)
        }
    }
}

extension SetupQuestions {
    /// Asks on standard error and reads standard input.
    fileprivate static let terminal = SetupQuestions(
        ask: { prompt in
            Console.printErrorControl(prompt)
            return readLine()
        },
        refuse: { Console.printError($0) })
}
