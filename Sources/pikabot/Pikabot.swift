import ArgumentParser

/// The command line: each command parses, calls one function, and prints.
@main
struct Pikabot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pikabot", abstract: "Bots in end-to-end encrypted groups: MLS over Nostr relays.",
        discussion:
            "Exit status: 0 done, 1 failed, 64 wrong usage, 78 wrong configuration file, 79 a later copy of the account runs.",
        version: "0.1.0",
        subcommands: [
            Demo.self, Run.self, Check.self, Backup.self, Restore.self, RelayCommand.self, Init.self, Identity.self,
            PublishKeyPackage.self, Groups.self, Welcomes.self, AcceptWelcome.self, Invite.self, Send.self,
            Messages.self, DownloadMedia.self, Listen.self, QR.self,
            Profile.self, UpdateProfile.self, UpdateGroupProfile.self, SendHypernote.self,
            HypernoteCatalogCommand.self, DaemonCommand.self,
            WorkerCommand.self, LabMemberCommand.self,
        ])

    static func main() async {
        await main(LeadingOptions.moved(Array(CommandLine.arguments.dropFirst())))
    }
}

extension ExitCode {
    /// `EX_CONFIG` of sysexits.h: the configuration file is wrong; running it again will not help.
    static let wrongConfiguration = ExitCode(78)
    /// A later copy of the account was started elsewhere: this one must not be started again by itself.
    static let laterCopy = ExitCode(79)
}
