import ArgumentParser
import BotKit
import BotProgram
import Foundation
import Nostr

extension Pikabot {
    struct ProbeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "probe", abstract: "Look once whether encrypted groups work over a relay, or with an account.",
            discussion: """
                A relay is named as wss://HOST or ws://HOST:PORT. Some thirty events are written to it by throwaway keys; \
                nobody can read them, they end after an hour, and they are deleted again. Exit status: 0 if it is good \
                (warnings do not count), 1 if it is not, 2 if it cannot be reached.

                An account is named by its npub or 64 hex digits. Nothing is published: the invitation that is tried is \
                thrown away. Exit status: 0 if the account can be found and invited, 1 if it cannot, 2 if no relay \
                answered, so that nothing is known.
                """)

        private enum Target {
            case relay(RelayURL)
            case account(PublicKey)

            init?(_ text: String) {
                if let relay = try? RelayURL(text) {
                    self = .relay(relay)
                } else if let account = try? PublicKey(parsing: text) {
                    self = .account(account)
                } else {
                    return nil
                }
            }
        }

        @Argument(help: "The relay, or the account.") var target: String
        @Flag(help: "Of a relay: write nothing to it.") var readOnly = false
        @Option(help: "Of a relay: a PEM file of an authority that is trusted besides the system's; may be repeated.")
        var trust: [String] = []
        @Option(
            help: """
                Of a relay: a file with the key to log in with where it asks for it (NIP-42); else a throwaway key does.
                """)
        var login: String?
        @Option(
            name: .customLong("relay"),
            help: """
                Of an account: where to begin; may be repeated. The relays that the account's lists name are asked too.
                """)
        var relays: [RelayArgument] = []
        @Option(help: "Of an account: days after which a key package is stale (30).") var stale: Int?
        @Option(help: "Seconds that all of it may take (30 for a relay, 15 for an account).") var patience: Int?
        @Flag(help: "Of an account: relays that only its lists name may be at private addresses.")
        var allowPrivateAddresses = false
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            guard (1...3650).contains(stale ?? 1) else { throw ValidationError("--stale is 1 to 3650 days") }
            guard (1...300).contains(patience ?? 1) else { throw ValidationError("--patience is 1 to 300 seconds") }
            switch Target(target) {
            case .relay where !relays.isEmpty || stale != nil || allowPrivateAddresses:
                throw ValidationError(
                    "--relay, --stale and --allow-private-addresses are for accounts; \(target) is a relay")
            case .account where readOnly || !trust.isEmpty || login != nil:
                throw ValidationError("--read-only, --trust and --login are for relays; \(target) is an account")
            case .relay, .account: break
            case nil:
                throw ValidationError(
                    "\(target) is neither a relay nor an account; write wss://HOST, ws://HOST:PORT or an npub")
            }
        }

        func run() async throws {
            switch Target(target) {
            case .relay(let relay): try await probe(relay)
            case .account(let account): try await probe(account)
            case nil: break
            }
        }

        private func probe(_ relay: RelayURL) async throws {
            var probe = RelayProbeRun(
                relay, writes: !readOnly, timeout: .seconds(patience ?? 30), trustRootFiles: trust, json: json)
            if let login { try probe.logIn(with: login) }
            try await probe.run()
        }

        private func probe(_ account: PublicKey) async throws {
            let start = try relays.isEmpty ? ClientOptions.standardRelays() : relays.map(\.url)
            let request = KeyPackageProbeRequest(
                account: account, relays: start, staleAfter: .seconds((stale ?? 30) * 86_400),
                timeout: .seconds(patience ?? 15))
            try await KeyPackageProbeRun(
                request, allowsPrivateAddresses: allowPrivateAddresses, json: json
            ).run()
        }
    }
}
