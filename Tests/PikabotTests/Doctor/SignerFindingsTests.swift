import BotConfiguration
import BotTesting
import Diagnosis
import EmbeddedRelay
import Foundation
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Testing

@testable import BotProgram
@testable import BotRuntime
@testable import pikabot

/// Findings of `doctor` on a remote signer behind a relay.
@Suite(.live)
struct SignerFindingsTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private struct Stage {
        let bunker: LabBunker
        let user: KeyPair
        let file: String
        /// The account's state.
        let state: String

        func examined(limit: Duration) async throws -> [Finding] {
            let configuration = try Configuration.load(path: file, registry: .included)
            return try await Examination(
                configuration: configuration, environment: [:], limit: limit, logger: SignerFindingsTests.logger
            ).run()
        }

        func finding(_ conduct: LabBunker.Conduct = .answers, limit: Duration = .seconds(20)) async throws -> Finding {
            bunker.conduct = conduct
            let configuration = try Configuration.load(path: file, registry: .included)
            let account = try #require(configuration.accounts.first)
            let key = AccountKeyFindings(account, environment: [:])
            let findings = await SignerFindings.run(
                key, directory: state, limit: limit, logger: SignerFindingsTests.logger
            ).findings
            #expect(findings.count == 1)
            return try #require(findings.first)
        }
    }

    private func staged(_ body: (Stage) async throws -> Void) async throws {
        try await withEmbeddedRelay { _, address in
            var generator = SystemRandomNumberGenerator()
            let user = KeyPair.generate(using: &generator)
            let pool = try RelayPool(addresses: .unrestricted, logger: Self.logger)
            let bunker = LabBunker(
                user, relay: try RelayURL(address), transport: pool, clock: SystemClock(), seed: generator.next())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await pool.run() }
                group.addTask { await bunker.run() }
                defer { group.cancelAll() }
                try await withTemporaryDirectory(named: "pikabot-tests") { directory in
                    let state = directory + "/state/far"
                    try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
                    let url = directory + "/bunker.url"
                    try Data(bunker.url.string.utf8).write(to: URL(fileURLWithPath: url))
                    chmod(url, 0o600)
                    let file = directory + "/test.yaml"
                    let text = """
                        version: 1
                        relays: [\(address)]
                        state: { directory: state }
                        accounts: [ { name: far, key: { bunker: { file: bunker.url } } } ]
                        """
                    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
                    try await body(Stage(bunker: bunker, user: user, file: file, state: state))
                }
                await pool.shutdown()
            }
        }
    }

    /// The probe does not use the URL's secret, which is reserved for the account's worker.
    @Test func probeConnectsNoClientToSigner() async throws {
        try await staged { stage in
            let findings = try await stage.examined(limit: .seconds(20))
            let signer = try #require(findings.first { $0.check == "signer" })
            #expect(signer.level == .ok && signer.text.hasPrefix("answers; "))
            #expect(stage.bunker.clients.isEmpty && stage.bunker.methods == [.ping])
            let silent = try await stage.finding(.silent, limit: .milliseconds(500))
            #expect(silent.level == .warning && silent.text.contains("never connected to it"))
        }
    }

    @Test func asksKnownSignerForKey() async throws {
        try await staged { stage in
            var generator = SystemRandomNumberGenerator()
            var identity = BunkerIdentity(
                clientKey: KeyPair.generate(using: &generator), remoteSigner: stage.bunker.url.remoteSigner)
            identity.account = stage.user.publicKey
            try identity.save(stage.state + "/" + BunkerIdentity.fileName)
            let findings = try await stage.examined(limit: .seconds(20))
            let well = try #require(findings.first { $0.check == "signer" })
            #expect(well.level == .ok && well.text == "answers, and holds the key of \(stage.user.publicKey.npub)")
            #expect(stage.bunker.clients == [identity.clientKey.publicKey])
            // The account's public data is checked too.
            #expect(findings.contains { $0.check == "published" && $0.subject == "account far" })

            let silent = try await stage.finding(.silent, limit: .milliseconds(500))
            #expect(silent.level == .error && silent.text.hasPrefix("the signer did not answer within"))
            let refused = try await stage.finding(.refuses(reason: "blocked"))
            #expect(refused.level == .error && refused.text == "refuses this account's client: blocked")
            let approval = try await stage.finding(.wantsApproval(url: "https://signer.example/1"))
            #expect(approval.level == .warning && approval.advice?.hasPrefix("open https://signer.example/1") == true)
            let other = KeyPair.generate(using: &generator)
            stage.bunker.hold(other)
            let wrong = try await stage.finding()
            #expect(wrong.level == .error && wrong.text.contains("holds the key of \(other.publicKey.npub), not of"))
            #expect([silent, refused, approval, wrong].allSatisfy { $0.advice != nil })
            try Data("{}".utf8).write(to: URL(fileURLWithPath: stage.state + "/" + BunkerIdentity.fileName))
            #expect(try await stage.finding().text.contains("is damaged"))
        }
    }
}
