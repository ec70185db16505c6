import Foundation
import Nostr
import Testing

@testable import BotConfiguration

/// Accounts whose key is held by a remote signer.
@Suite struct BunkerKeyTests {
    private static let signer = "fa984bd7dbb282f07e16e7ae87b26a2a7b9b90b7246a44771f0cf5ae58018f52"
    private static let address = "bunker://\(signer)?relay=wss%3A%2F%2Frelay.example&secret=hunter2"

    private func parse(_ yaml: String) throws -> Configuration {
        try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: ["echo"])
    }

    @Test func parsesNestedReference() throws {
        let text = """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: greeter
                key: { bunker: { env: GREETER_BUNKER } }
              - name: second
                key: { bunker: { file: secrets/bunker.url } }
            """
        let configuration = try self.parse(text)
        #expect(configuration.accounts[0].key == .bunker(.environment("GREETER_BUNKER")))
        #expect(configuration.accounts[1].key == .bunker(.file("/etc/pikabot/secrets/bunker.url")))
        #expect(configuration.redactedDescription.contains("key: { bunker: { env: GREETER_BUNKER } }"))
        let again = try self.parse(configuration.redactedDescription)
        #expect(again.accounts.map(\.key) == configuration.accounts.map(\.key))
    }

    @Test func loadsBunkerURL() throws {
        let reference = KeyReference.bunker(.environment("B"))
        for text in [Self.address, Self.address + "\n"] {
            let url = try reference.loadBunker(environment: ["B": text])
            #expect(url.remoteSigner.hex == Self.signer && url.secret == "hunter2")
        }
        for text in ["", "bunker://", Self.address + "\n\n", "nsec1xyz", "bunker://\(Self.signer)?secret=hunter2"] {
            let error = #expect(throws: KeyLoadingError.self) { try reference.loadBunker(environment: ["B": text]) }
            #expect(error?.code == .malformed && error?.message.contains("hunter2") == false)
        }
        let missing = #expect(throws: KeyLoadingError.self) { try reference.loadBunker(environment: [:]) }
        #expect(missing?.code == .unreadable)
    }

    @Test func refusesToLoadRemoteKey() throws {
        let reference = KeyReference.bunker(.environment("B"))
        let error = #expect(throws: KeyLoadingError.self) {
            try reference.loadKeyPair(environment: ["B": Self.address])
        }
        #expect(error?.code == .remote)
        let other = #expect(throws: KeyLoadingError.self) {
            try KeyReference.environment("B").loadBunker(environment: ["B": Self.address])
        }
        #expect(other?.code == .malformed)
    }
}
