import BotTesting
import Nostr
import Testing

@testable import PikaCore

extension LabLogin.Attempt {
    /// The code of a failed login.
    var failure: AppCoreError.Code? { (self.error as? AppCoreError)?.code }
    /// The message of a failed login.
    var message: String { (self.error as? AppCoreError)?.message ?? "" }
}

@Suite struct LoginTests {
    private func key(_ seed: UInt64) -> KeyPair {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    // MARK: Keys

    @Test func newKeyIsStored() async throws {
        let lab = try GroupLab(seed: 400)
        let login = lab.login("ann")
        let account = try #require(try await login.attempt(.newKey).account)
        guard case .key(let key)? = login.identities.identities.first else {
            Issue.record("unexpected identities: \(login.identities.identities)")
            return
        }
        #expect(key.publicKey == account && login.host.storedAccounts == [account])
        #expect(login.host.openAccounts.isEmpty)
        let next = try #require(try await login.attempt(.newKey).account)
        #expect(next != account && login.identities.identities.count == 2)
    }

    @Test func logsInWithKey() async throws {
        let lab = try GroupLab(seed: 402)
        let login = lab.login("ann")
        let key = self.key(1)
        for _ in 0..<2 {
            #expect(try await login.attempt(.key(key)).account == key.publicKey)
            #expect(login.identities.identities == [.key(key)] && login.host.openAccounts.isEmpty)
        }
    }

    @Test func encryptedKeyStaysEncrypted() async throws {
        let lab = try GroupLab(seed: 403)
        let login = lab.login("ann")
        var generator = SeededGenerator(seed: 9)
        let key = self.key(2)
        // The NIP's own password: the same characters in two forms.
        let text = try key.encrypted(
            password: NIP49.Password("\u{212B}\u{2126}\u{1E9B}\u{0323}"), logN: 2, security: .notKnownInsecure,
            using: &generator)
        #expect(try await login.attempt(.encryptedKey(text, password: "other")).failure == .wrongPassword)
        #expect(login.identities.identities.isEmpty)
        let password = "\u{C5}\u{3A9}\u{1E69}"
        #expect(try await login.attempt(.encryptedKey(text, password: password)).account == key.publicKey)
        #expect(login.identities.identities == [.encryptedKey(key.publicKey, ncryptsec: text)])
    }

    @Test func hostileCredentialsAreRefused() async throws {
        let lab = try GroupLab(seed: 404)
        let login = lab.login("ann")
        for text in ["", "nsec1", "ncryptsec1", String(repeating: "q", count: 6000), self.key(3).nsec] {
            let attempt = try await login.attempt(.encryptedKey(text, password: "x"))
            #expect(attempt.failure == .badCredential, "\(text.prefix(12))")
        }
        #expect(login.identities.identities.isEmpty && login.host.storedAccounts.isEmpty)
    }

    @Test func normalizesPasswords() throws {
        // NIP-49, "Password Unicode Normalization".
        let typed = "\u{212B}\u{2126}\u{1E9B}\u{0323}"
        #expect(Array(typed.utf8) == [0xE2, 0x84, 0xAB, 0xE2, 0x84, 0xA6, 0xE1, 0xBA, 0x9B, 0xCC, 0xA3])
        var generator = SeededGenerator(seed: 5)
        let text = try self.key(4).encrypted(password: NIP49.Password(typed), logN: 1, using: &generator)
        let bytes: [UInt8] = [0xC3, 0x85, 0xCE, 0xA9, 0xE1, 0xB9, 0xA9]
        let read = try NIP49.EncryptedKey(parsing: text)
        #expect(try read.decrypt(password: NIP49.Password(normalizedUTF8: bytes)) == self.key(4))
    }

    // MARK: Failures

    @Test func refusesAccountThatCannotBeStored() async throws {
        let lab = try GroupLab(seed: 401)
        let login = lab.login("ann")
        login.identities.fail([.save])
        #expect(try await login.attempt(.newKey).failure == .identityUnavailable)
        #expect(login.identities.identities.isEmpty && login.host.openAccounts.isEmpty)
        login.identities.fail([.load])
        #expect(try await login.attempt(.newKey).failure == .identityUnavailable)
        login.identities.fail([])
        #expect(try await login.attempt(.newKey).account != nil)
    }

    @Test func reportsAccountThatCannotOpen() async throws {
        let lab = try GroupLab(seed: 405)
        let login = lab.login("ann")
        login.host.failToOpen("the disk is gone")
        let attempt = try await login.attempt(.key(self.key(5)))
        #expect(attempt.failure == .accountUnavailable && attempt.message.contains("the disk is gone"))
        #expect(login.identities.identities.isEmpty)
        login.host.failToOpen(nil)
        #expect(try await login.attempt(.key(self.key(5))).account == self.key(5).publicKey)
    }

    @Test func loginNeverRevokesErasure() async throws {
        let lab = try GroupLab(seed: 406)
        let login = lab.login("ann")
        let key = self.key(6)
        login.host.holdOpening()
        let attempt = try await login.attempt(.key(key))
        // Another process erases the account meanwhile.
        try await login.identities.save(.wiping(key.publicKey))
        login.host.releaseOpening()
        try await lab.settle()
        #expect(attempt.failure == .notAllowed)
        #expect(login.identities.identities == [.wiping(key.publicKey)] && login.host.openAccounts.isEmpty)
    }

    @Test func cancelledLoginClosesAndStoresNothing() async throws {
        let lab = try GroupLab(seed: 407)
        let login = lab.login("ann")
        login.host.holdOpening()
        let attempt = try await login.attempt(.key(self.key(9)))
        #expect(!attempt.isOver && login.host.openAccounts == [self.key(9).publicKey])
        attempt.cancel()
        try await lab.settle()
        #expect(attempt.error is CancellationError)
        #expect(login.host.openAccounts.isEmpty && login.identities.identities.isEmpty)
        login.host.releaseOpening()
        #expect(try await login.attempt(.key(self.key(9))).account == self.key(9).publicKey)
    }

    @Test func cancelledOpeningReleasesNoOther() async throws {
        let lab = try GroupLab(seed: 419)
        let login = lab.login("ann")
        login.host.holdOpening()
        let held = try await login.attempt(.key(self.key(10)))
        let cancelled = try await login.attempt(.key(self.key(11)))
        cancelled.cancel()
        try await lab.settle()
        #expect(cancelled.error is CancellationError && !held.isOver)
        login.host.releaseOpening()
        try await lab.settle()
        #expect(held.account == self.key(10).publicKey)
        #expect(login.identities.identities == [.key(self.key(10))] && login.host.openAccounts.isEmpty)
    }

    // MARK: Secrets

    @Test func noSecretIsShownOrLogged() async throws {
        let lab = try GroupLab(seed: 430)
        let login = lab.login("ann")
        var generator = SeededGenerator(seed: 14)
        let key = self.key(14)
        let text = try key.encrypted(password: NIP49.Password("hunter2"), logN: 1, using: &generator)
        let credentials: [LoginCredential] = [
            .newKey, .key(key), .encryptedKey(text, password: "wrong horse"),
            .encryptedKey(text, password: "hunter2"), .bunker("bunker://\(key.publicKey.hex)?secret=topsecret"),
            .encryptedKey(key.nsec, password: "hunter2"),
        ]
        var shown = ""
        for credential in credentials {
            let attempt = try await login.attempt(credential)
            if let error = attempt.error { shown += "\(error)" + String(reflecting: error) }
            dump(credential, to: &shown)
            shown += "\(credential)" + String(reflecting: credential)
        }
        let identities = login.identities.identities
        for identity in identities + [.key(key), .encryptedKey(key.publicKey, ncryptsec: text)] {
            dump(identity, to: &shown)
            shown += "\(identity)" + String(reflecting: identity)
        }
        shown += lab.logLines.joined()
        let created = identities.compactMap { identity -> KeyPair? in
            if case .key(let key) = identity { key } else { nil }
        }
        #expect(created.count == 1)
        for key in created + [key] {
            #expect(shown.contains(key.publicKey.hex) || shown.contains(key.publicKey.description))
            for secret in [Hex.encode(key.secretBytes), key.nsec, "\(key.secretBytes)"] {
                #expect(!shown.contains(secret))
            }
        }
        for secret in ["hunter2", "wrong horse", "topsecret", "nsec1", "ncryptsec1q"] {
            #expect(!shown.contains(secret), "\(secret)")
        }
    }
}
