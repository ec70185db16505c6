import BotTesting
import Nostr
import Testing

@testable import PikaCore

@Suite struct LogoutTests {
    private func key(_ seed: UInt64) -> KeyPair {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    private func loggedIn(_ lab: GroupLab, _ keys: KeyPair...) async throws -> LabLogin {
        let login = lab.login("ann")
        for key in keys { #expect(try await login.attempt(.key(key)).account == key.publicKey) }
        return login
    }

    private func failure(_ body: () async throws -> Void) async -> AppCoreError.Code? {
        do { try await body() } catch { return (error as? AppCoreError)?.code }
        return nil
    }

    // MARK: Logout

    @Test func logoutKeepsStateAndOtherAccounts() async throws {
        let lab = try GroupLab(seed: 420)
        let (key, other) = (self.key(1), self.key(2))
        let login = try await self.loggedIn(lab, key, other)
        try await login.logOut(key.publicKey)
        #expect(login.identities.identities == [.key(other)])
        #expect(login.host.storedAccounts == [key.publicKey, other.publicKey])
        // Repeating it does nothing.
        try await login.logOut(key.publicKey)
        #expect(login.identities.identities == [.key(other)])
    }

    @Test func failedLogoutCanBeRepeated() async throws {
        let lab = try GroupLab(seed: 422)
        let key = self.key(3)
        let login = try await self.loggedIn(lab, key)
        login.identities.fail([.delete])
        #expect(await self.failure { try await login.logOut(key.publicKey) } == .identityUnavailable)
        #expect(login.identities.identities == [.key(key)])
        login.identities.fail([])
        try await login.logOut(key.publicKey)
        #expect(login.identities.identities.isEmpty)
    }

    // MARK: Wiping

    @Test func wipeDeletesKeyAndState() async throws {
        let lab = try GroupLab(seed: 424)
        let (key, other) = (self.key(6), self.key(7))
        let login = try await self.loggedIn(lab, key, other)
        try await login.wipe(key.publicKey)
        #expect(login.identities.identities == [.key(other)])
        #expect(login.host.storedAccounts == [other.publicKey] && login.host.wipedAccounts == [key.publicKey])
        #expect(await self.failure { try await login.wipe(key.publicKey) } == .notLoggedIn)
        #expect(login.host.wipedAccounts == [key.publicKey])
    }

    private func perform(_ next: String, _ login: LabLogin, _ key: KeyPair) async throws {
        switch next {
        case "login":
            if let error = try await login.attempt(.key(key)).error { throw error }
        case "logout": try await login.logOut(key.publicKey)
        default: try await login.wipe(key.publicKey)
        }
    }

    @Test func nextCallCompletesInterruptedWipe() async throws {
        for next in ["login", "logout", "wipe"] {
            let lab = try GroupLab(seed: 425)
            let key = self.key(8)
            let login = try await self.loggedIn(lab, key)
            login.host.failToWipe("a file is busy")
            #expect(await self.failure { try await login.wipe(key.publicKey) } == .accountUnavailable)
            // The key was deleted first; no login is possible before the remaining data is deleted.
            #expect(await self.failure { try await self.perform(next, login, key) } == .accountUnavailable)
            #expect(login.identities.identities == [.wiping(key.publicKey)])
            login.host.failToWipe(nil)
            login.identities.fail([.delete])
            #expect(await self.failure { try await self.perform(next, login, key) } == .identityUnavailable)
            #expect(login.identities.identities == [.wiping(key.publicKey)])
            login.identities.fail([])
            try await self.perform(next, login, key)
            let expected: [AccountIdentity] = next == "login" ? [.key(key)] : []
            #expect(login.identities.identities == expected, "\(next)")
            #expect(login.host.wipedAccounts == [key.publicKey, key.publicKey])
        }
    }

    @Test func failedKeyDeletionKeepsEverything() async throws {
        let lab = try GroupLab(seed: 426)
        let key = self.key(9)
        let login = try await self.loggedIn(lab, key)
        login.identities.fail([.save])
        #expect(await self.failure { try await login.wipe(key.publicKey) } == .identityUnavailable)
        #expect(login.host.wipedAccounts.isEmpty && login.identities.identities == [.key(key)])
        login.identities.fail([])
        try await login.wipe(key.publicKey)
        #expect(login.host.wipedAccounts == [key.publicKey])
    }
}
