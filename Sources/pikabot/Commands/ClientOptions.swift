import ArgumentParser
import Foundation
import Nostr

/// The options of all commands that act for the account in a state directory.
struct ClientOptions: ParsableArguments {
    private static let defaultRelays = ["wss://relay.primal.net", "wss://nos.lol", "wss://relay.damus.io"]
    private static let defaultKeyPackageRelays = [
        "wss://nostr-pub.wellorder.net", "wss://nostr-01.yakihonne.com", "wss://nostr-02.yakihonne.com",
    ]

    @Option(name: .customLong("state-dir"), help: "Folder of the account's key and state.")
    var stateDirectory = ClientOptions.defaultStateDirectory(ProcessInfo.processInfo.environment)

    @Option(name: .customLong("relay"), help: "Relay for messages; may be repeated. (default: three public relays)")
    var relays: [RelayArgument] = []

    @Option(
        name: .customLong("kp-relay"),
        help: "Relay for key packages; may be repeated. (default: those of --relay, or three public relays)")
    var keyPackageRelays: [RelayArgument] = []

    /// Relays for messages and for key packages, each once.
    func allRelays() throws -> [RelayURL] {
        var all = try relays.isEmpty ? Self.defaultRelays.map { try RelayURL($0) } : relays.map(\.url)
        var more = keyPackageRelays.map(\.url)
        if more.isEmpty, relays.isEmpty { more = try Self.defaultKeyPackageRelays.map { try RelayURL($0) } }
        for relay in more where !all.contains(relay) { all.append(relay) }
        return all
    }

    static func defaultStateDirectory(_ environment: [String: String]) -> String {
        if let folder = environment["XDG_STATE_HOME"], folder.hasPrefix("/") { return folder + "/pikachat" }
        return NSHomeDirectory() + "/.local/state/pikachat"
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
