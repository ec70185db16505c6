import ArgumentParser
import BotProgram
import Telemetry

/// The command line: each command parses its arguments, calls one function, and prints the result.
@main
struct Pikabot: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pikabot", abstract: "Bots in end-to-end encrypted groups: MLS over Nostr relays.",
        discussion: BotProgram.exitStatuses,
        version: SoftwareVersion.current,
        subcommands: [Demo.self, New.self, Setup.self] + BotProgram.commands + [
            ProbeCommand.self, RelayCommand.self, Init.self, Login.self, Logout.self, Accounts.self, Identity.self,
            PublishKeyPackage.self, Groups.self, Welcomes.self, AcceptWelcome.self, Invite.self, Create.self,
            Members.self, Add.self, Remove.self, Leave.self, Rename.self, Describe.self, Admins.self, Relays.self,
            Disband.self,
            CallCommand.self, Send.self, Messages.self, DownloadMedia.self, Listen.self, QR.self, Profile.self,
            UpdateProfile.self,
            UpdateGroupProfile.self, SendHypernote.self, HypernoteCatalogCommand.self, DaemonCommand.self,
            LoadCommand.self, ConvergenceNodeCommand.self, EpicuraSimulatorCommand.self,
        ])

    static func main() async {
        await BotProgram.run(
            Pikabot.self, registry: .included, leading: ClientOptions.leading,
            arguments: Array(CommandLine.arguments.dropFirst()))
    }
}
