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

/// Sessions with identity and state on disk.
@Suite(.live) struct LocalSessionTests {
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

        func sleep(untilMilliseconds time: Int64) async throws {
            while nowMilliseconds < time {
                try await SystemClock().sleep(untilMilliseconds: start + (time - start) * 4)
            }
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pikabot-" + UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(Place(folder: folder))
    }

    /// Runs a session for these actions in order, and returns their outcomes and the resulting state.
    private func run(
        _ place: Place, _ actions: [AppAction], relays: [RelayURL] = []
    ) async throws -> (outcomes: [ActionOutcome], auth: AppState.Auth, created: KeyPair?) {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let session = AppSession(
            identities: DirectoryIdentityStore(place.accounts, account: try place.accounts.current()?.account),
            host: LocalAccountHost(accounts: place.accounts, logger: logger),
            configuration: CoreConfiguration(relays: relays), clock: SlowClock(), logger: logger)
        let updates = session.updates()
        // Each after the previous one has ended, because a logout cancels a login.
        let dispatch = { (index: Int) in
            session.dispatch(actions[index], request: RequestID(rawValue: "\(index)"))
        }
        dispatch(0)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await session.run() }
            var outcomes: [ActionOutcome] = []
            var created: KeyPair?
            for await update in updates {
                if case .accountCreated(_, let key) = update { created = key }
                guard case .finished(_, _, let outcome) = update else { continue }
                outcomes.append(outcome)
                if outcomes.count == actions.count { break }
                dispatch(outcomes.count)
            }
            let auth = await session.state.auth
            group.cancelAll()
            try await group.waitForAll()
            return (outcomes, auth, created)
        }
    }

    private let done = ActionOutcome.done(chatID: nil)

    @Test func createsRestoresAndWipesAccount() async throws {
        try await withPlace { place in
            let first = try await run(place, [.createAccount(name: nil)])
            let key = try #require(first.created)
            #expect(first.outcomes == [done] && first.auth == .loggedIn(key.publicKey, .localKey))
            let file = place.identity(of: key.publicKey)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            let second = try await run(place, [.restoreSession])
            #expect(second.outcomes == [done] && second.auth == first.auth && second.created == nil)
            let third = try await run(place, [.restoreSession, .wipeLocalData])
            #expect(third.outcomes == [done, done] && third.auth == .loggedOut)
            #expect(place.files == ["accounts"])
        }
    }

    @Test func logoutKeepsIdentityAndState() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            let text = try key.encrypted(password: NIP49.Password("pass"), logN: 2, using: &generator)
            let login = try await run(place, [.login(.encryptedKey(text, password: "pass"))])
            #expect(login.outcomes == [done] && login.auth == .loggedIn(key.publicKey, .encryptedKey))
            let kept = try String(contentsOfFile: place.identity(of: key.publicKey), encoding: .utf8)
            #expect(kept.contains(text) && !kept.contains(Hex.encode(key.secretBytes)))
            let again = try await run(place, [.login(.storedKey(password: "pass")), .logout])
            #expect(again.outcomes == [done, done] && again.auth == .loggedOut)
            let folder = "accounts/\(key.publicKey.hex)"
            #expect(!place.files.contains("\(folder)/identity.json"))
            #expect(Set(place.files).isSuperset(of: ["\(folder)/logged-out.json", "\(folder)/state.sqlite"]))
            #expect(try place.accounts.current() == nil)
            try place.accounts.resume(key.publicKey)
            let resumed = try await run(place, [.login(.storedKey(password: "pass"))])
            #expect(resumed.outcomes == [done] && resumed.auth == login.auth)
        }
    }

    private func bunker(relays: [String], secret: String? = "s&cret") throws -> BunkerURL {
        var generator = SystemRandomNumberGenerator()
        return BunkerURL(
            remoteSigner: KeyPair.generate(using: &generator).publicKey, relays: try relays.map { try RelayURL($0) },
            secret: secret)
    }

    @Test func restoresAccountWithoutSigner() async throws {
        try await withPlace { place in
            var generator = SystemRandomNumberGenerator()
            let (user, client) = (KeyPair.generate(using: &generator), KeyPair.generate(using: &generator))
            // Nothing listens there.
            let url = try bunker(relays: ["ws://127.0.0.1:1"])
            try IdentityFile(path: place.identity).write(.bunker(user.publicKey, url, client: client))
            let auth = AppState.Auth.loggedIn(user.publicKey, .remoteSigner)
            let first = try await run(place, [.restoreSession])
            #expect(first.outcomes == [done] && first.auth == auth && first.created == nil)
            let second = try await run(place, [.restoreSession, .logout])
            #expect(second.outcomes == [done, done] && second.auth == .loggedOut)
            #expect(!place.files.contains("identity.json"))
            #expect(Set(place.files).isSuperset(of: ["logged-out.json", "state.sqlite"]))
            try IdentityFile(path: place.identity).write(.bunker(user.publicKey, url, client: client))
            let third = try await run(place, [.restoreSession, .wipeLocalData])
            #expect(third.outcomes == [done, done] && place.files == ["lock"])
        }
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
                try await withPlace { try await logInAndComeBack($0, user, bunker) }
                await pool.shutdown()
            }
        }
    }

    private func logInAndComeBack(_ place: Place, _ user: KeyPair, _ bunker: LabBunker) async throws {
        let auth = AppState.Auth.loggedIn(user.publicKey, .remoteSigner)
        let first = try await run(place, [.login(.bunker(bunker.url.string))], relays: bunker.url.relays)
        #expect(first.outcomes == [done] && first.auth == auth)
        let file = place.identity(of: user.publicKey)
        let identity = try IdentityFile(path: file).read(isPrivate: true)
        guard case .bunker(user.publicKey, bunker.url, let client)? = identity else {
            Issue.record("unexpected identity: \(String(describing: identity))")
            return
        }
        #expect(bunker.clients == [client.publicKey])
        let kept = try String(contentsOfFile: file, encoding: .utf8)
        #expect(!kept.contains(Hex.encode(user.secretBytes)))
        // The profile is signed by the remote signer.
        let second = try await run(
            place, [.restoreSession, .saveProfile(ProfileDraft(name: "Ann"))], relays: bunker.url.relays)
        #expect(second.outcomes == [done, done] && second.auth == auth)
        #expect(bunker.methods.contains(.signEvent) && bunker.methods.filter { $0 == .connect }.count == 1)
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
