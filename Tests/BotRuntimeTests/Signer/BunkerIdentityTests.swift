import Errors
import Foundation
import LiveTesting
import Nostr
import Testing

@testable import BotRuntime

/// The stored identity by which a remote signer knows this client.
@Suite struct BunkerIdentityTests {
    private static let address =
        "bunker://fa984bd7dbb282f07e16e7ae87b26a2a7b9b90b7246a44771f0cf5ae58018f52?relay=wss%3A%2F%2Frelay.example"
        + "&secret=hunter2"

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
