import ArgumentParser
import BotProgram
import BotRuntime
import Foundation
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct Login: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an account to the state directory and make it the current one.",
            discussion: """
                Without a key it creates a new one. With --account and no key it makes an account of the directory \
                current, and logs it in again if it is logged out. Next, run: pikabot publish-kp.
                """)
        /// More relays do not fit into a QR code.
        private static let invitationRelays = 2

        @OptionGroup var options: ClientOptions

        @Option(help: "File with the account's key, nsec1… or 64 hex digits, which only its owner can read.")
        var nsecFile: String?

        @Option(help: "File with the account's encrypted key, ncryptsec1…; it is stored encrypted.")
        var ncryptsecFile: String?

        @Option(help: "File with the password of --ncryptsec-file. (default: PIKABOT_PASSWORD, or a prompt)")
        var passwordFile: String?

        @Option(help: "Address of the remote signer that holds the key, bunker://…; - reads it from standard input.")
        var bunker: String?

        @Flag(help: "Show an invitation, nostrconnect://…, as a QR code and text, and wait for a remote signer.")
        var nostrconnect = false

        func validate() throws {
            let keys = key.count + (nostrconnect ? 1 : 0)
            guard keys <= 1 else {
                throw ValidationError(
                    "expected at most one of --nsec-file, --ncryptsec-file, --bunker and --nostrconnect, found \(keys)")
            }
            guard passwordFile == nil || ncryptsecFile != nil else {
                throw ValidationError("--password-file needs --ncryptsec-file")
            }
            guard options.account == nil || keys == 0 else {
                throw ValidationError("--account selects an account of the directory; omit it to log in with a key")
            }
        }

        func perform() async throws -> JSONValue {
            let accounts = AccountDirectory(path: options.stateDirectory)
            if let account = options.account?.key { return try resume(account, in: accounts) }
            // An unreadable account must not fail only after the login.
            _ = try accounts.readEntries()
            let login = AccountLogin(accounts: accounts, logger: Logger(label: "pikabot"))
            let credential = try chooseCredential()
            let account: PublicKey
            do {
                account = try await login.logIn(credential) { url in
                    Console.printError("Approve this login at the remote signer: \(url)")
                }
            } catch let error as AppCoreError { throw CommandError(error.explanation) }
            return try accounts.readEntries().entry(of: account, in: options.stateDirectory).json
        }

        private func resume(_ account: PublicKey, in accounts: AccountDirectory) throws -> JSONValue {
            try accounts.readEntries().entry(of: account, in: options.stateDirectory).requireIntact()
            try accounts.resume(account)
            return try accounts.readEntries().entry(of: account, in: options.stateDirectory).json
        }

        private var key: LoginKey { LoginKey(nsecFile: nsecFile, ncryptsecFile: ncryptsecFile, bunker: bunker) }

        private func chooseCredential() throws -> LoginCredential {
            if nostrconnect { return try invite() }
            var key = self.key
            if bunker == "-" {
                guard let address = readLine()?.trimmed else {
                    throw ValidationError("--bunker -: expected a bunker:// address on standard input, found none")
                }
                key.bunker = address
            }
            return try key.credential {
                try Password.read(file: passwordFile, environment: ProcessInfo.processInfo.environment)
            }
        }

        /// Shows an invitation on standard error, because standard output is for the result.
        private func invite() throws -> LoginCredential {
            var generator = SystemRandomNumberGenerator()
            let client = KeyPair.generate(using: &generator)
            let secret = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let invitation = NostrConnectURL(
                client: client.publicKey, relays: Array(try options.messageRelays().prefix(Self.invitationRelays)),
                secret: Hex.encode(secret), name: "pikabot")
            if let code = QRCode(invitation.string, level: .low) {
                Console.printErrorControl(code.terminalText(isColored: isatty(STDERR_FILENO) == 1) + "\n")
            }
            Console.printErrorText(
                "\(invitation.string)\n\nScan or paste this into the remote signer within 5 minutes.")
            return .invitation(invitation, client: client)
        }
    }
}
