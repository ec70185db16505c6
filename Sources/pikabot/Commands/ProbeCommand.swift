import ArgumentParser
import BotKit
import BotProgram
import Foundation
import Nostr
import ProbeReports

extension Pikabot {
    struct ProbeCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "probe",
            abstract: "Check once whether encrypted groups work over a relay, or with an account.",
            discussion: """
                A relay is given as wss://HOST or ws://HOST:PORT. About thirty events are written to it with throwaway \
                keys; they cannot be decrypted, expire after an hour, and are deleted afterwards. Exit status: 0 \
                if the relay passes (warnings do not count), 1 if it fails, 2 if it is unreachable.

                An account is given as npub or 64 hex digits. Nothing is published: the trial invitation is discarded. \
                Exit status: 0 if the account can be found and invited, 1 if it cannot, 2 if no relay answered and \
                nothing is known. --protocol v2 demands that current clients can invite it.
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
        @Flag(help: "For relays: write nothing.") var readOnly = false
        @Option(
            help: "For relays: a PEM file with a certificate authority trusted besides the system's; may be repeated.")
        var trust: [String] = []
        @Option(
            help: """
                For relays: a file with the key for authentication (NIP-42). (default: a throwaway key)
                """)
        var login: String?
        @Option(
            name: .customLong("relay"),
            help: """
                For accounts: a relay to start from; may be repeated. The relays of the account's lists are queried too.
                """)
        var relays: [RelayArgument] = []
        @Option(
            name: .customLong("protocol"),
            help: """
                For accounts: any, v1, v2 or both: the protocol generations in which it must be invitable. \
                (default: any)
                """)
        var expectation: ProtocolExpectation?
        @Option(help: "For accounts: days after which a key package is stale. (default: 30)") var stale: Int?
        @Option(help: "Deadline in seconds. (default: 30 for a relay, 15 for an account)") var patience: Int?
        @Flag(help: "For accounts: relays named only by its lists may have private addresses.")
        var allowPrivateAddresses = false
        @Flag(help: "Print JSON.") var json = false

        func validate() throws {
            guard (1...3650).contains(stale ?? 1) else { throw ValidationError("--stale: expected 1 to 3650 days") }
            guard (1...300).contains(patience ?? 1) else {
                throw ValidationError("--patience: expected 1 to 300 seconds")
            }
            switch Target(target) {
            case .relay where !relays.isEmpty || stale != nil || expectation != nil || allowPrivateAddresses:
                throw ValidationError(
                    "--relay, --protocol, --stale and --allow-private-addresses are for accounts; \(target) is a relay"
                )
            case .account where readOnly || !trust.isEmpty || login != nil:
                throw ValidationError("--read-only, --trust and --login are for relays; \(target) is an account")
            case .relay, .account: break
            case nil:
                throw ValidationError(
                    "\(target): expected a relay or an account: wss://HOST, ws://HOST:PORT, an npub or 64 hex digits")
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
                account: account, relays: start, expectation: expectation ?? .any,
                staleAfter: .seconds((stale ?? 30) * 86_400), timeout: .seconds(patience ?? 15))
            try await KeyPackageProbeRun(
                request, allowsPrivateAddresses: allowPrivateAddresses, json: json
            ).run()
        }
    }
}

extension ProtocolExpectation: ExpressibleByArgument {}
