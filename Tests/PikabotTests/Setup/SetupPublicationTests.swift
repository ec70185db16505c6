import BotConfiguration
import BotProgram
import BotRuntime
import EmbeddedRelay
import Foundation
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import Testing

@testable import pikabot

@Suite(.live) struct SetupPublicationTests {
    private func setUp(_ folder: String, relay: String) async throws -> SetupReport {
        let name = try SetupName("greeter")
        return try await Pikabot.Setup.setUp(
            name, .folder(folder, name), SetupDraft(relays: [try RelayURL(relay)], invites: .anyone), questions: nil,
            standardRelays: [], offline: false)
    }

    /// Returns the newest events of an account on a relay, by kind.
    private func events(
        of author: PublicKey, _ kinds: [Kind], on relay: String, folder: String
    ) async throws -> [Kind: Event] {
        var generator = SystemRandomNumberGenerator()
        let address = try RelayURL(relay)
        let settings = LocalAccountSettings(
            key: HeldKey(KeyPair.generate(using: &generator)),
            core: CoreConfiguration(relays: [address], publishesKeyPackage: false), stateDirectory: folder,
            addresses: .unrestricted, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        return try await withLocalAccount(settings) { account in
            var found: [Kind: Event] = [:]
            for kind in kinds { found[kind] = await account.newestEvent(of: author, kinds: [kind], on: [address]) }
            return found
        }
    }

    @Test func accountCanBeFoundAndInvited() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            try await withEmbeddedRelay { _, address in
                let first = try await self.setUp(folder, relay: address)
                #expect(first.publication == .published)
                let kinds: [Kind] = [.metadata, .keyPackage, .addressableKeyPackage, .inboxRelays, .keyPackageRelays]
                let events = try await self.events(
                    of: first.files.key.publicKey, kinds, on: address, folder: folder + "/reader")
                #expect(Set(events.keys) == Set(kinds))
                #expect(events[.metadata]?.content.contains("greeter") == true)
                // The same account publishes again.
                let second = try await self.setUp(folder, relay: address)
                #expect(second.publication == .published)
                #expect(second.files.key.publicKey == first.files.key.publicKey)
            }
        }
    }

    @Test func unreachableRelayKeepsFiles() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { folder in
            let report = try await self.setUp(folder, relay: "ws://127.0.0.1:1")
            guard case .failed(let reason) = report.publication else {
                Issue.record("published over a relay that does not exist: \(report.publication)")
                return
            }
            #expect(reason.contains("ws://127.0.0.1:1"))
            for path in report.files.created { #expect(FileManager.default.fileExists(atPath: path)) }
        }
    }
}
