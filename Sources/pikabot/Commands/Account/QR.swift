import ArgumentParser
import BotProgram
import Foundation
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct QR: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "qr", abstract: "Show a QR code that opens a chat with the account in the Pika app.",
            discussion: "PIKA_CHANNEL in the environment is the default of --channel.")

        @OptionGroup var options: ClientOptions

        @Option(help: "Build of the app: prod, dev or test. (default: prod)") var channel: AppChannel?
        @Option(help: "The scheme of the link instead of the app's.") var scheme: String?

        func validate() throws { _ = try linkScheme(ProcessInfo.processInfo.environment) }

        func run() async throws {
            StandardErrorLog.bootstrap(level: .error)
            if options.remote { _ = try remoteRequest() }
            let result = try perform()
            guard !options.json, let link = result["link"]?.string else {
                return Console.print(result, as: .record, options)
            }
            guard let code = QRCode(link, level: .low) else {
                throw CommandError("\(link) is too long for a QR code; give a shorter --scheme")
            }
            Console.printControl(code.terminalText(isColored: isatty(STDOUT_FILENO) == 1) + "\n")
            Console.printErrorText("\n  npub: \(result["npub"]?.string ?? "")\n  link: \(link)")
        }

        func perform() throws -> JSONValue {
            let key = try StoredIdentity.loadOrCreate(in: options.accountFolder()).account
            var result = ResultJSON.identity(key)
            result["link"] = .string("\(try linkScheme(ProcessInfo.processInfo.environment))://chat/\(key.npub)")
            return .object(result)
        }

        func linkScheme(_ environment: [String: String]) throws -> String {
            if let scheme {
                let scheme = scheme.trimmed.lowercased()
                let isScheme =
                    scheme.first?.isLetter == true
                    && scheme.utf8.allSatisfy {
                        (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2b || $0 == 0x2d
                            || $0 == 0x2e
                    }
                guard isScheme else {
                    throw ValidationError("--scheme: expected a letter followed by letters, digits, + - and .")
                }
                return scheme
            }
            if let channel { return channel.scheme }
            guard let name = environment["PIKA_CHANNEL"], !name.isEmpty else { return AppChannel.prod.scheme }
            guard let channel = AppChannel(rawValue: name) else {
                throw ValidationError("PIKA_CHANNEL: expected prod, dev or test, found \(name)")
            }
            return channel.scheme
        }
    }
}

/// A build of the Pika app.
enum AppChannel: String, ExpressibleByArgument, CaseIterable {
    case prod
    case dev
    case test

    /// Scheme of the links that it opens.
    var scheme: String {
        switch self {
        case .prod: "pika"
        case .dev: "pikadev"
        case .test: "pikatest"
        }
    }
}
