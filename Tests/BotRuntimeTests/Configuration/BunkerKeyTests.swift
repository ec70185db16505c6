import Foundation
import Nostr
import Testing

@testable import BotRuntime

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

    // MARK: Client identity

    @Test func persistsClientKey() throws {
        try withTemporaryFolder { folder in
            let file = "\(folder)/bunker.json"
            let url = try BunkerURL(Self.address)
            let first = try BunkerIdentity.loadOrCreate(file: file, for: url)
            #expect(first.account == nil && first.remoteSigner == url.remoteSigner)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try BunkerIdentity.loadOrCreate(file: file, for: url) == first)
            var known = first
            known.account = url.remoteSigner
            try known.save(file)
            #expect(try BunkerIdentity.loadOrCreate(file: file, for: url) == known)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["bunker.json"])
            // Another signer has not named its account yet.
            let other = BunkerURL(remoteSigner: first.clientKey.publicKey, relays: url.relays)
            let moved = try BunkerIdentity.loadOrCreate(file: file, for: other)
            #expect(moved.clientKey == first.clientKey && moved.account == nil)
            #expect(try BunkerIdentity.loadOrCreate(file: file, for: other) == moved)
        }
    }

    @Test func refusesDamagedOrReadableFile() throws {
        try withTemporaryFolder { folder in
            let file = "\(folder)/bunker.json"
            let url = try BunkerURL(Self.address)
            _ = try BunkerIdentity.loadOrCreate(file: file, for: url)
            let whole = try Array(Data(contentsOf: URL(fileURLWithPath: file)))
            for length in stride(from: 0, to: whole.count, by: 11) {
                try writeFile(Array(whole.prefix(length)), to: file)
                #expect(throws: WorkerError(.noKey, "")) { try BunkerIdentity.loadOrCreate(file: file, for: url) }
            }
            try writeFile(whole, to: file, mode: 0o644)
            #expect(throws: WorkerError(.noKey, "")) { try BunkerIdentity.loadOrCreate(file: file, for: url) }
            try writeFile(whole, to: file)
            _ = try BunkerIdentity.loadOrCreate(file: file, for: url)
        }
    }
}
