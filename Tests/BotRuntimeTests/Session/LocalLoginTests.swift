import BotConfiguration
import BotRuntime
import BotTesting
import EmbeddedRelay
import Foundation
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Testing

/// Logins with identity and state on disk.
@Suite(.live) struct LocalLoginTests {
    private struct Place {
        let folder: String
        var accounts: AccountDirectory { AccountDirectory(path: folder) }
        /// The identity of the directory's own account.
        var identity: String { folder + "/identity.json" }

        func identity(of account: PublicKey) -> String { "\(folder)/accounts/\(account.hex)/identity.json" }

        var files: [String] {
            (FileManager.default.enumerator(atPath: folder)?.allObjects as? [String])?.sorted() ?? []
        }
    }

    /// Four times slower than the system clock, so that a signer's 30 s suffice on a busy machine.
    private struct SlowClock: CoreClock {
        let start = SystemClock().nowMilliseconds
        var nowMilliseconds: Int64 { start + (SystemClock().nowMilliseconds - start) / 4 }
        var monotonicMilliseconds: Int64 { SystemClock().monotonicMilliseconds / 4 }

        func sleep(untilMilliseconds time: Int64) async throws {
            while nowMilliseconds < time {
                try await SystemClock().sleep(untilMilliseconds: start + (time - start) * 4)
            }
        }

        func sleep(untilMonotonicMilliseconds time: Int64) async throws {
            while monotonicMilliseconds < time {
                try await SystemClock().sleep(untilMonotonicMilliseconds: time * 4)
            }
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pikabot-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(Place(folder: folder))
    }

    private func login(_ place: Place) -> AccountLogin {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return AccountLogin(accounts: place.accounts, clock: SlowClock(), logger: logger)
    }

    @Test func encryptedKeyStaysEncrypted() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            let text = try key.encrypted(password: NIP49.Password("pass"), logN: 2, using: &generator)
            #expect(try await login(place).logIn(.encryptedKey(text, password: "pass")) == key.publicKey)
            let kept = try String(contentsOfFile: place.identity(of: key.publicKey), encoding: .utf8)
            #expect(kept.contains(text) && !kept.contains(Hex.encode(key.secretBytes)))
        }
    }

    @Test func refusesUnreadableState() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            _ = try await login(place).logIn(.key(key))
            try await login(place).logOut(key.publicKey)
            let folder = "\(place.folder)/accounts/\(key.publicKey.hex)"
            // Without it a new sealing key is created, which does not open the state.
            try FileManager.default.removeItem(atPath: folder + "/sealing.key")
            let error = await #expect(throws: AppCoreError.self) { try await login(place).logIn(.key(key)) }
            #expect(error?.code == .accountUnavailable)
            #expect(!place.files.contains("accounts/\(key.publicKey.hex)/identity.json"))
            #expect(try place.accounts.current() == nil)
        }
    }

    @Test func logoutAndWipeNeedNoSigner() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let (user, client) = (KeyPair.generate(using: &generator), KeyPair.generate(using: &generator))
            // Nothing listens there.
            let url = try bunker(relays: ["ws://127.0.0.1:1"])
            let identity = AccountIdentity.bunker(user.publicKey, url, client: client)
            try IdentityFile(path: place.identity).write(identity)
            try await login(place).logOut(user.publicKey)
            #expect(!place.files.contains("identity.json") && place.files.contains("logged-out.json"))
            try IdentityFile(path: place.identity).write(identity)
            try await login(place).wipe(user.publicKey)
            #expect(place.files == ["lock"])
        }
    }

    @Test func loginCompletesInterruptedWipe() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            _ = try await login(place).logIn(.key(key))
            let folder = "\(place.folder)/accounts/\(key.publicKey.hex)"
            try IdentityFile(path: place.identity(of: key.publicKey)).write(.wiping(key.publicKey))
            try FileManager.default.removeItem(atPath: folder + "/sealing.key")
            #expect(try await login(place).logIn(.key(key)) == key.publicKey)
            #expect(try place.accounts.current()?.identity == .key(key))
        }
    }

    private func bunker(relays: [String], secret: String? = "s&cret") throws -> BunkerURL {
        var generator = SystemRandomNumberGenerator()
        return BunkerURL(
            remoteSigner: KeyPair.generate(using: &generator).publicKey, relays: try relays.map { try RelayURL($0) },
            secret: secret)
    }

    @Test func logsInWithRemoteSigner() async throws {
        try await withEmbeddedRelay { _, address in
            var generator = SystemRandomNumberGenerator()
            let user = KeyPair.generate(using: &generator)
            let pool = try RelayPool(
                addresses: .unrestricted, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let bunker = LabBunker(
                user, relay: try RelayURL(address), transport: pool, clock: SystemClock(), seed: generator.next())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await pool.run() }
                let (listening, started) = AsyncStream.makeStream(of: Never.self)
                group.addTask { await bunker.run { started.finish() } }
                defer { group.cancelAll() }
                // Relays do not keep requests for a signer that is not subscribed yet.
                for await _ in listening {}
                try await withPlace { try await logIn($0, user, bunker) }
                await pool.shutdown()
            }
        }
    }

    private func logIn(_ place: Place, _ user: KeyPair, _ bunker: LabBunker) async throws {
        #expect(try await login(place).logIn(.bunker(bunker.url.string)) == user.publicKey)
        let file = place.identity(of: user.publicKey)
        let identity = try IdentityFile(path: file).read(isPrivate: true)
        guard case .bunker(user.publicKey, bunker.url, let client)? = identity else {
            Issue.record("unexpected identity: \(String(describing: identity))")
            return
        }
        #expect(bunker.clients == [client.publicKey])
        let kept = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!kept.contains(Hex.encode(user.secretBytes)))
        // A logged-out account keeps the client key that its signer knows.
        try await login(place).logOut(user.publicKey)
        #expect(try await login(place).logIn(.bunker(bunker.url.string)) == user.publicKey)
        #expect(try place.accounts.current()?.identity == identity)
        #expect(bunker.methods.filter { $0 == .connect }.count == 1)
    }

    @Test func doesNotWriteUnreadableIdentity() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            let path = String(repeating: "p", count: 1000)
            let url = try bunker(relays: (0..<5).map { "wss://\($0).example/\(path)" })
            let store = IdentityFile(path: place.identity)
            try store.write(.key(key))
            let error = #expect(throws: KeyLoadingError.self) {
                try store.write(.bunker(key.publicKey, url, client: key))
            }
            #expect(error?.code == .malformed && error?.message.contains("s&cret") == false)
            #expect(try store.read(isPrivate: true) == .key(key))
        }
    }

    @Test func identitiesRoundTrip() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let (key, other) = (KeyPair.generate(using: &generator), KeyPair.generate(using: &generator))
            let text = try key.encrypted(password: NIP49.Password("x"), logN: 1, using: &generator)
            let store = IdentityFile(path: place.identity)
            #expect(try store.read(isPrivate: true) == nil)
            for identity in [
                AccountIdentity.key(key), .encryptedKey(key.publicKey, ncryptsec: text),
                .bunker(
                    key.publicKey, try bunker(relays: ["wss://a.example", "ws://b.example:7000/x"]), client: other),
                .bunker(key.publicKey, try bunker(relays: ["wss://a.example"], secret: nil), client: other),
                .wiping(key.publicKey),
            ] {
                try store.write(identity)
                let mode = try FileManager.default.attributesOfItem(atPath: place.identity)[.posixPermissions] as? Int
                #expect(mode == 0o600)
                #expect(try store.read(isPrivate: true) == identity)
            }
            #expect(place.files == ["identity.json"])
        }
    }

    @Test func refusesInvalidIdentities() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let (key, other) = (KeyPair.generate(using: &generator), KeyPair.generate(using: &generator))
            let store = IdentityFile(path: place.identity)
            try store.write(.key(key))
            let account = "\"public_key_hex\":\"\(key.publicKey.hex)\""
            let url = try bunker(relays: ["wss://a.example"]).string
            let client = "\"client_key_hex\":\"\(Hex.encode(other.secretBytes))\""
            for text in [
                "", "{}", "[]", "{\(account)}", "{\(account),\"wiping\":false}", "{\(account),\"ncryptsec\":\"x\"}",
                "{\(account),\"secret_key_hex\":\"\(Hex.encode(other.secretBytes))\"}",
                "{\(account),\"wiping\":true} x",
                "{\(account),\"bunker\":\"\(url)\"}", "{\(account),\(client)}", "{\"bunker\":\"\(url)\",\(client)}",
                "{\(account),\"bunker\":\"\(url)\",\(client)", "{\(account),\"bunker\":7,\(client)}",
                "{\(account),\"bunker\":\"\",\(client)}",
                "{\(account),\"bunker\":\"\(url)\",\"client_key_hex\":\"00\"}",
                "{\(account),\"bunker\":\"bunker://\(key.publicKey.hex)?secret=hunter2\",\(client)}",
                "{\(account),\"bunker\":\"\(url.replacingOccurrences(of: "bunker:", with: "nostrconnect:"))\",\(client)}",
                "{\(account),\"bunker\":\"\(url)\",\"client_key_hex\":\"\(String(repeating: "0", count: 64))\"}",
            ] {
                try Data(text.utf8).write(to: URL(fileURLWithPath: place.identity))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.identity)
                let error = #expect(throws: KeyLoadingError.self) { try store.read(isPrivate: true) }
                #expect(error?.code == .malformed)
                #expect(error?.message.contains(Hex.encode(other.secretBytes)) == false)
                #expect(error?.message.contains("hunter2") == false)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: place.identity)
            let error = #expect(throws: KeyLoadingError.self) { try store.read(isPrivate: true) }
            #expect(error?.code == .permissions)
        }
    }
}
