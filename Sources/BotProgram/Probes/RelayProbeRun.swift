package import ArgumentParser
import BotConfiguration
import BotKit
import Diagnosis
import Foundation
package import Nostr
import ProbeReports

extension ExitCode {
    /// `probe`: the target could not be reached.
    package static let targetUnreachable = ExitCode(2)
}

/// `probe wss://…`: checks once whether encrypted groups work on one relay.
package struct RelayProbeRun: Sendable {
    private var probe: RelayProbe
    private let json: Bool

    /// - Parameters:
    ///   - writes: Whether it may write, with throwaway keys.
    ///   - timeout: The deadline of the whole probe.
    ///   - trustRootFiles: PEM files of certificate authorities that are trusted in addition to the system's.
    ///   - json: Prints JSON instead of text.
    package init(_ relay: RelayURL, writes: Bool, timeout: Duration, trustRootFiles: [String], json: Bool) {
        probe = RelayProbe(relay)
        probe.writes = writes
        probe.timeout = timeout
        probe.trustRootFiles = trustRootFiles
        self.json = json
    }

    /// Authenticates with the key in a file where the relay requires it (NIP-42). Throws ``ArgumentParser/ExitCode`` 80
    /// if the key cannot be loaded.
    package mutating func logIn(with path: String) throws {
        let keys: KeyPair
        do {
            keys = try KeyReference.file(path).loadKeyPair(environment: ProcessInfo.processInfo.environment)
        } catch {
            Console.printError("\(error)")
            throw ExitCode.noKey
        }
        probe.login = { challenge, relay in
            var generator = SystemRandomNumberGenerator()
            return NIP42.authenticationEvent(
                challenge: challenge, relay: relay, by: keys, now: .systemTime, using: &generator)
        }
    }

    /// Prints the result. Throws ``ArgumentParser/ExitCode`` 1 if groups do not work on the relay, and 2 if it cannot
    /// be reached.
    package func run() async throws {
        let report = await probe.run()
        Console.printText(json ? report.json.prettyText : report.text)
        if !report.isReachable { throw ExitCode.targetUnreachable }
        if !report.isGood { throw ExitCode.failure }
    }
}
