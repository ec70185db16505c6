import BotConfiguration
import BotRuntime
import Foundation
import LiveTesting
import Logging
import Nostr
import PikaCore
import Testing

/// Several accounts in one state directory.
@Suite(.live) struct AccountDirectoryTests {
    private func withDirectory(_ body: (AccountDirectory) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pikabot-" + UUID().uuidString).path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await body(AccountDirectory(path: folder))
    }

    private func key() -> KeyPair {
        var generator = SystemRandomNumberGenerator()
        return KeyPair.generate(using: &generator)
    }

    private func login(_ accounts: AccountDirectory) -> AccountLogin {
        AccountLogin(accounts: accounts, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func files(_ accounts: AccountDirectory) -> [String] {
        (FileManager.default.enumerator(atPath: accounts.path)?.allObjects as? [String])?.sorted() ?? []
    }

    private func addOwnAccount(_ key: KeyPair, to accounts: AccountDirectory) throws {
        try IdentityFile(path: "\(accounts.path)/identity.json").write(.key(key))
    }

    // MARK: Accounts

    @Test func ownAccountIsCurrentByDefault() async throws {
        try await withDirectory { accounts in
            #expect(try accounts.entries().isEmpty && accounts.hasOnlyOwnAccount)
            let own = key()
            try addOwnAccount(own, to: accounts)
            let entry = try #require(try accounts.current())
            #expect(entry.account == own.publicKey && entry.folder == accounts.path && entry.isLoggedIn)
            #expect(accounts.hasOnlyOwnAccount && files(accounts) == ["identity.json"])
        }
    }

    @Test func loginKeepsOwnAccount() async throws {
        try await withDirectory { accounts in
            let (own, other) = (key(), key())
            try addOwnAccount(own, to: accounts)
            let before = try Data(contentsOf: URL(fileURLWithPath: accounts.path + "/identity.json"))
            #expect(try await login(accounts).logIn(.key(other)) == other.publicKey)
            let entries = try accounts.entries()
            #expect(entries.map(\.account) == [own.publicKey, other.publicKey])
            #expect(entries.map(\.isCurrent) == [false, true])
            #expect(entries.map(\.folder) == [accounts.path, "\(accounts.path)/accounts/\(other.publicKey.hex)"])
            #expect(try Data(contentsOf: URL(fileURLWithPath: accounts.path + "/identity.json")) == before)
            #expect(!accounts.hasOnlyOwnAccount)
            try accounts.select(own.publicKey)
            #expect(try accounts.current()?.account == own.publicKey)
        }
    }

    @Test func newKeyIsStoredPrivately() async throws {
        try await withDirectory { accounts in
            let account = try await login(accounts).logIn(.newKey)
            let entry = try #require(try accounts.entry(of: account))
            guard case .key(let key) = entry.identity else {
                Issue.record("unexpected identity: \(entry.identity)")
                return
            }
            #expect(key.publicKey == account && entry.isCurrent)
            let attributes = try FileManager.default.attributesOfItem(atPath: entry.folder + "/identity.json")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let folder = try FileManager.default.attributesOfItem(atPath: entry.folder)
            #expect(folder[.posixPermissions] as? Int == 0o700)
        }
    }

    @Test func refusesLoginWithWrongPassword() async throws {
        try await withDirectory { accounts in
            var generator = SystemRandomNumberGenerator()
            let text = try key().encrypted(password: NIP49.Password("right"), logN: 2, using: &generator)
            let error = await #expect(throws: AppCoreError.self) {
                try await login(accounts).logIn(.encryptedKey(text, password: "wrong"))
            }
            #expect(error?.code == .wrongPassword)
            #expect(try accounts.entries().isEmpty)
        }
    }

    // MARK: Logout

    @Test func logoutKeepsKeyAndState() async throws {
        try await withDirectory { accounts in
            let (own, other) = (key(), key())
            try addOwnAccount(own, to: accounts)
            _ = try await login(accounts).logIn(.key(other))
            try await login(accounts).logOut(other.publicKey)
            let entry = try #require(try accounts.entry(of: other.publicKey))
            #expect(!entry.isLoggedIn && entry.identity == .key(other))
            #expect(try accounts.current()?.account == own.publicKey)
            #expect(FileManager.default.fileExists(atPath: entry.folder + "/state.sqlite"))
            try accounts.resume(other.publicKey)
            #expect(try accounts.current()?.account == other.publicKey)
        }
    }

    @Test func erasureLeavesOtherAccounts() async throws {
        try await withDirectory { accounts in
            let (own, other) = (key(), key())
            try addOwnAccount(own, to: accounts)
            _ = try await login(accounts).logIn(.key(own))
            _ = try await login(accounts).logIn(.key(other))
            try await login(accounts).wipe(own.publicKey)
            #expect(try accounts.entries().map(\.account) == [other.publicKey])
            #expect(Set(files(accounts)).isDisjoint(with: AccountDirectory.stateFiles + ["identity.json"]))
            try await login(accounts).wipe(other.publicKey)
            #expect(try accounts.entries().isEmpty)
            #expect(Set(files(accounts)).isSubset(of: ["accounts", "lock"]))
        }
    }

    @Test func erasesLoggedOutAccount() async throws {
        try await withDirectory { accounts in
            let account = try await login(accounts).logIn(.newKey)
            try await login(accounts).logOut(account)
            try await login(accounts).wipe(account)
            #expect(files(accounts) == ["accounts"])
        }
    }

    @Test func completesInterruptedErasure() async throws {
        try await withDirectory { accounts in
            let account = try await login(accounts).logIn(.newKey)
            let folder = try #require(try accounts.entry(of: account)).folder
            try IdentityFile(path: folder + "/identity.json").write(.wiping(account))
            let entry = try #require(try accounts.entry(of: account))
            #expect(!entry.isLoggedIn && entry.identity == .wiping(account))
            try await login(accounts).wipe(account)
            #expect(files(accounts) == ["accounts"])
        }
    }

    @Test func erasureOfUsedAccountKeepsKey() async throws {
        try await withDirectory { accounts in
            let (own, other) = (key(), key())
            try addOwnAccount(own, to: accounts)
            _ = try await login(accounts).logIn(.key(other))
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let host = LocalAccountHost(accounts: accounts, logger: logger)
            for used in [own, other] {
                try await host.withState(of: used.publicKey) {
                    let error = await #expect(throws: AppCoreError.self) {
                        try await login(accounts).wipe(used.publicKey)
                    }
                    #expect(error?.code == .identityUnavailable)
                }
                #expect(try accounts.entry(of: used.publicKey)?.identity == .key(used))
                try await login(accounts).wipe(used.publicKey)
                #expect(try accounts.entry(of: used.publicKey) == nil)
            }
            #expect(try accounts.entries().isEmpty)
        }
    }

    @Test func erasureDeletesDraftsOfCrashes() async throws {
        try await withDirectory { accounts in
            let own = key()
            try addOwnAccount(own, to: accounts)
            for name in ["identity.json.1f.new", "logged-out.json.2a.new", "sealing.key.3b.new", "notes.new"] {
                #expect(FileManager.default.createFile(atPath: "\(accounts.path)/\(name)", contents: Data([1])))
            }
            try await login(accounts).wipe(own.publicKey)
            #expect(files(accounts) == ["lock", "notes.new"])
        }
    }

    @Test func loginCompletesInterruptedErasure() async throws {
        try await withDirectory { accounts in
            let own = key()
            try IdentityFile(path: "\(accounts.path)/identity.json").write(.wiping(own.publicKey))
            #expect(FileManager.default.createFile(atPath: accounts.path + "/state.sqlite", contents: Data([1])))
            #expect(try await login(accounts).logIn(.key(own)) == own.publicKey)
            #expect(try accounts.current()?.identity == .key(own))
            #expect(!FileManager.default.fileExists(atPath: accounts.path + "/state.sqlite"))
        }
    }

    // MARK: Replacement

    @Test func remoteSignerNeverReplacesKey() async throws {
        try await withDirectory { accounts in
            let (own, signer, client) = (key(), key(), key())
            try addOwnAccount(own, to: accounts)
            let url = BunkerURL(remoteSigner: signer.publicKey, relays: [try RelayURL("wss://a.example")])
            for isLoggedIn in [true, false] {
                let error = #expect(throws: AppCoreError.self) {
                    try accounts.save(.bunker(own.publicKey, url, client: client))
                }
                #expect(error?.code == .notAllowed)
                let entry = try #require(try accounts.entry(of: own.publicKey))
                #expect(entry.identity == .key(own) && entry.isLoggedIn == isLoggedIn)
                // The second time, the account is logged out.
                if isLoggedIn { try await login(accounts).logOut(own.publicKey) }
            }
        }
    }

    @Test func loginNeverRevokesErasure() async throws {
        try await withDirectory { accounts in
            let own = key()
            try IdentityFile(path: "\(accounts.path)/identity.json").write(.wiping(own.publicKey))
            let error = #expect(throws: AppCoreError.self) { try accounts.save(.key(own)) }
            #expect(error?.code == .notAllowed)
            #expect(try accounts.entry(of: own.publicKey)?.identity == .wiping(own.publicKey))
        }
    }

    // MARK: Malformed files

    @Test func refusesIdentityInFolderOfAnother() async throws {
        try await withDirectory { accounts in
            let (one, other) = (key(), key())
            let path = "\(accounts.path)/accounts/\(one.publicKey.hex)/identity.json"
            try IdentityFile(path: path).write(.key(other))
            let error = #expect(throws: KeyLoadingError.self) { try accounts.entries() }
            #expect(error?.code == .malformed)
        }
    }

    @Test func refusesMalformedCurrentAccount() async throws {
        try await withDirectory { accounts in
            try addOwnAccount(key(), to: accounts)
            try Data("x".utf8).write(to: URL(fileURLWithPath: accounts.path + "/current-account"))
            let error = #expect(throws: KeyLoadingError.self) { try accounts.entries() }
            #expect(error?.message.contains("current-account") == true)
        }
    }

    @Test func findsIdentityOfRemoteSigner() async throws {
        try await withDirectory { accounts in
            let (user, signer, client) = (key(), key(), key())
            let url = BunkerURL(remoteSigner: signer.publicKey, relays: [try RelayURL("wss://a.example")])
            let path = "\(accounts.path)/accounts/\(user.publicKey.hex)/logged-out.json"
            let identity = AccountIdentity.bunker(user.publicKey, url, client: client)
            try IdentityFile(path: path).write(identity)
            #expect(try accounts.identity(withSigner: signer.publicKey) == identity)
            #expect(try accounts.identity(withSigner: user.publicKey) == nil)
        }
    }
}
