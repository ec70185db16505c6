package import ArgumentParser
import BotKit
import BotRuntime
import Diagnosis
import Foundation
package import Nostr

extension ExitCode {
    /// Of `probe`: there was nobody to look at.
    package static let targetUnreachable = ExitCode(2)
}

/// `probe wss://…`: whether encrypted groups work over one relay, once.
package struct RelayProbeRun: Sendable {
    private var probe: RelayProbe
    private let json: Bool

    /// - Parameters:
    ///   - writes: Whether it may write, with keys that are thrown away.
    ///   - timeout: For all of it.
    ///   - trustRootFiles: PEM files of authorities that are trusted besides the system's.
    ///   - json: Prints JSON instead of words.
    package init(_ relay: RelayURL, writes: Bool, timeout: Duration, trustRootFiles: [String], json: Bool) {
        probe = RelayProbe(relay)
        probe.writes = writes
        probe.timeout = timeout
        probe.trustRootFiles = trustRootFiles
        self.json = json
    }

    /// Logs in with the key in a file where the relay asks for it (NIP-42). Throws ``ArgumentParser/ExitCode`` 80 if
    /// there is none.
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
            let now = Int64(Date().timeIntervalSince1970)
            return NIP42.authenticationEvent(
                challenge: challenge, relay: relay, by: keys, now: now, using: &generator)
        }
    }

    /// Prints what was found. Throws ``ArgumentParser/ExitCode`` 1 if groups do not work over it, and 2 if it cannot be
    /// reached.
    package func run() async throws {
        let report = await probe.run()
        Console.printText(json ? report.json.prettyText : report.text)
        if !report.isReachable { throw ExitCode.targetUnreachable }
        if !report.isGood { throw ExitCode.failure }
    }
}
