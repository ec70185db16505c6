import ArgumentParser
import BotProgram
import BotRuntime
import Foundation
import Nostr
import PikaCore

/// Options of all commands for the account in a state directory; they may also precede the command.
struct ClientOptions: ParsableArguments {
    private static let defaultRelays = [
        "wss://relay.primal.net", "wss://nos.lol", "wss://relay.damus.io", "wss://us-east.nostr.pikachat.org",
        "wss://eu.nostr.pikachat.org",
    ]
    private static let defaultKeyPackageRelays = [
        "wss://nostr-pub.wellorder.net", "wss://nostr-01.yakihonne.com", "wss://nostr-02.yakihonne.com",
    ]
    private static let defaultMediaServers = ["https://us-east.nostr.pikachat.org", "https://eu.nostr.pikachat.org"]

    /// The same options before the subcommand.
    static let leading = LeadingOptions(
        withValue: ["--state-dir", "--account", "--relay", "--kp-relay"],
        flags: ["--remote", "--json", "--table", "--allow-private-addresses"])

    @Option(name: .customLong("state-dir"), help: "Directory of the account's key and state.")
    var stateDirectory = ClientOptions.defaultStateDirectory(ProcessInfo.processInfo.environment)

    @Option(help: "Account of the state directory: npub or hex. (default: the one marked as current by `accounts`)")
    var account: PublicKeyArgument?

    @Option(name: .customLong("relay"), help: "Relay for messages; may be repeated. (default: five public relays)")
    var relays: [RelayArgument] = []

    @Option(
        name: .customLong("kp-relay"),
        help: "Relay for key packages; may be repeated. (default: those of --relay, or three public relays)")
    var keyPackageRelays: [RelayArgument] = []

    @Flag(
        name: .customLong("allow-private-addresses"),
        help: """
            Relays and media servers named by others may have private addresses. (default: only those given by --relay \
            and --kp-relay)
            """)
    var allowsPrivateAddresses = false

    @Flag(help: "Run the command in the daemon of the state directory.") var remote = false

    @Flag(help: "Print JSON on a terminal too; output to a pipe is always JSON.") var json = false
    @Flag(help: ArgumentHelp("Print tables, even into a pipe.", visibility: .hidden)) var table = false

    func validate() throws {
        guard !stateDirectory.isEmpty else { throw ValidationError("--state-dir: expected a directory") }
    }

    /// Whether results are formatted for people: on a terminal, unless JSON was requested.
    var isForPeople: Bool { table || (!json && isatty(STDOUT_FILENO) == 1) }

    /// Returns the folder of the chosen account's key and state.
    func accountFolder() throws -> String {
        let accounts = AccountDirectory(path: stateDirectory)
        if account == nil, accounts.hasOnlyOwnAccount { return stateDirectory }
        let entries = try accounts.readEntries()
        guard let account else {
            if let current = entries.first(where: \.isCurrent) { return current.folder }
            guard entries.isEmpty else {
                throw CommandError(
                    "\(stateDirectory): no account is current; `pikabot accounts` lists them, and `pikabot login "
                        + "--account NPUB` logs one in")
            }
            return stateDirectory
        }
        let entry = try entries.entry(of: account.key, in: stateDirectory)
        guard entry.isLoggedIn else {
            throw CommandError(
                "\(account.key.npub) is logged out; run: pikabot login --account \(account.key.npub)")
        }
        return entry.folder
    }

    func messageRelays() throws -> [RelayURL] {
        try relays.isEmpty ? Self.defaultRelays.map { try RelayURL($0) } : Self.unique(relays.map(\.url))
    }

    /// The default public relays for messages and key packages.
    static func standardRelays() throws -> [RelayURL] {
        try (defaultRelays + defaultKeyPackageRelays).map { try RelayURL($0) }
    }

    /// Returns the relays for key packages; empty if these are the message relays.
    func relaysForKeyPackages() throws -> [RelayURL] {
        guard keyPackageRelays.isEmpty else { return Self.unique(keyPackageRelays.map(\.url)) }
        return try relays.isEmpty ? Self.defaultKeyPackageRelays.map { try RelayURL($0) } : []
    }

    /// Configuration of an account that successive commands use: it joins groups only on request, and incoming messages
    /// are kept for `listen`, whichever command received them.
    func coreConfiguration() throws -> CoreConfiguration {
        CoreConfiguration(
            relays: try messageRelays(), invites: .nobody, publishesKeyPackage: false, keepsInbox: true,
            mediaServers: try Self.mediaServers(), keyPackageRelays: try relaysForKeyPackages())
    }

    static func mediaServers() throws -> [MediaURL] { try defaultMediaServers.map { try MediaURL($0) } }

    static func defaultStateDirectory(_ environment: [String: String]) -> String {
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return folder + "/pikachat" }
        return NSHomeDirectory() + "/.local/state/pikachat"
    }

    private static func unique(_ relays: [RelayURL]) -> [RelayURL] {
        var seen: Set<RelayURL> = []
        return relays.filter { seen.insert($0).inserted }
    }
}

/// An address on the command line.
struct RelayArgument: ExpressibleByArgument {
    let url: RelayURL

    init?(argument: String) {
        guard let url = try? RelayURL(argument) else { return nil }
        self.url = url
    }
}
