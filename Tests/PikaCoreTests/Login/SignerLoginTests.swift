import BotTesting
import Nostr
import Testing

@testable import PikaCore

/// Logins of accounts with a remote signer (NIP-46).
@Suite struct SignerLoginTests {
    private func key(_ seed: UInt64) -> KeyPair {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    private func place(_ seed: UInt64) async throws -> (lab: GroupLab, login: LabLogin, bunker: LabBunker) {
        let lab = try GroupLab(seed: seed)
        return (lab, lab.login("ann"), try await lab.bunker(of: self.key(seed)))
    }

    private func credential(_ bunker: LabBunker) -> LoginCredential { .bunker(bunker.url.string) }

    private func storedClient(_ login: LabLogin) throws -> KeyPair {
        guard case .bunker(_, _, let client)? = login.identities.identities.first else {
            throw LabError(.unmet, "no signer is stored: \(login.identities.identities)")
        }
        return client
    }

    /// Whether nothing is stored, open or scheduled.
    private func isIdle(_ login: LabLogin, _ lab: GroupLab) -> Bool {
        login.identities.identities.isEmpty && login.host.openAccounts.isEmpty && lab.clock.sleeperCount == 0
    }

    // MARK: Login

    @Test func signerLogsIn() async throws {
        let (lab, login, bunker) = try await self.place(480)
        let account = self.key(480).publicKey
        let attempt = try await login.attempt(self.credential(bunker))
        #expect(attempt.account == account && attempt.approvals.isEmpty)
        let client = try self.storedClient(login)
        #expect(login.identities.identities == [.bunker(account, bunker.url, client: client)])
        #expect(bunker.clients == [client.publicKey] && client.publicKey != account)
        #expect(bunker.methods == [.connect, .getPublicKey])
        #expect(login.host.openAccounts.isEmpty && lab.clock.sleeperCount == 0)
        // The secret may be valid only once, so a known signer is asked with the same client key.
        #expect(try await login.attempt(self.credential(bunker)).account == account)
        #expect(try self.storedClient(login) == client)
        #expect(bunker.methods == [.connect, .getPublicKey, .getPublicKey])
    }

    @Test func loginWaitsForApproval() async throws {
        let (lab, login, bunker) = try await self.place(482)
        let address = "https://signer.example/approve/1"
        bunker.conduct = .wantsApproval(url: address)
        let attempt = login.begin(self.credential(bunker))
        try await lab.advance(by: .seconds(120))
        #expect(!attempt.isOver && attempt.approvals == [address])
        try await lab.approve(bunker)
        #expect(attempt.account == self.key(482).publicKey)
    }

    // MARK: Failing signers

    @Test func absentSignerFailsLoginAtDeadline() async throws {
        let (lab, login, bunker) = try await self.place(483)
        bunker.conduct = .silent
        let silent = login.begin(self.credential(bunker))
        try await lab.advance(by: .seconds(29))
        #expect(!silent.isOver)
        try await lab.advance(by: .seconds(1))
        #expect(silent.failure == .signerAway && silent.message.contains("within 30 s"))
        #expect(self.isIdle(login, lab), "a failed login must leave no timer")
        lab.network.takeDown(lab.relay)
        let cut = login.begin(self.credential(bunker))
        try await lab.advance(by: .seconds(30))
        #expect(cut.failure == .signerAway && cut.message.contains("can be reached"))
        lab.network.bringUp(lab.relay)
        bunker.conduct = .wantsApproval(url: "https://signer.example/")
        let unapproved = login.begin(self.credential(bunker))
        try await lab.advance(by: .seconds(299))
        #expect(!unapproved.isOver)
        try await lab.advance(by: .seconds(32))
        #expect(unapproved.failure == .signerAway)
        #expect(self.isIdle(login, lab), "a failed login must leave no timer")
    }

    @Test func loginErrorQuotesSignersRefusal() async throws {
        let (lab, login, bunker) = try await self.place(484)
        bunker.conduct = .refuses(reason: "ask my owner")
        let attempt = try await login.attempt(self.credential(bunker))
        #expect(attempt.failure == .signerRefused && attempt.message.contains("ask my owner"))
        #expect(self.isIdle(login, lab))
    }

    @Test func reportsUnavailableConnections() async throws {
        let (lab, login, bunker) = try await self.place(488)
        login.host.failToOpenSigners("no sockets left")
        let attempt = try await login.attempt(self.credential(bunker))
        #expect(attempt.failure == .accountUnavailable && attempt.message.contains("no sockets left"))
        #expect(self.isIdle(login, lab) && bunker.methods.isEmpty)
        login.host.failToOpenSigners(nil)
        #expect(try await login.attempt(self.credential(bunker)).account == self.key(488).publicKey)
    }

    @Test func refusesSignerOfAnotherAccount() async throws {
        let (_, login, bunker) = try await self.place(486)
        let account = self.key(486).publicKey
        #expect(try await login.attempt(self.credential(bunker)).account == account)
        let identities = login.identities.identities
        bunker.hold(self.key(1))
        let attempt = try await login.attempt(self.credential(bunker))
        #expect(attempt.failure == .wrongSigner)
        #expect(attempt.message.contains(account.npub) && attempt.message.contains(self.key(1).publicKey.npub))
        #expect(login.identities.identities == identities && login.host.openAccounts.isEmpty)
    }

    @Test func signerNeverReplacesKey() async throws {
        for isEncrypted in [false, true] {
            let (lab, login, bunker) = try await self.place(498)
            let key = self.key(498)
            var generator = SeededGenerator(seed: 498)
            let text = try key.encrypted(password: NIP49.Password("x"), logN: 1, using: &generator)
            let stored = isEncrypted ? LoginCredential.encryptedKey(text, password: "x") : .key(key)
            #expect(try await login.attempt(stored).account == key.publicKey)
            let identities = login.identities.identities
            // The account's state is not even opened.
            login.host.failToOpen("it is in use")
            let attempt = try await login.attempt(self.credential(bunker))
            #expect(attempt.failure == .notAllowed && attempt.message.contains(key.publicKey.npub))
            #expect(login.identities.identities == identities && lab.clock.sleeperCount == 0)
        }
    }

    @Test func signerNeverCompletesWipe() async throws {
        let (_, login, bunker) = try await self.place(499)
        let key = self.key(499)
        #expect(try await login.attempt(.key(key)).account == key.publicKey)
        login.host.failToWipe("a file is busy")
        await #expect(throws: AppCoreError.self) { try await login.wipe(key.publicKey) }
        login.host.failToWipe(nil)
        #expect(try await login.attempt(self.credential(bunker)).failure == .notAllowed)
        #expect(login.identities.identities == [.wiping(key.publicKey)] && login.host.wipedAccounts.isEmpty)
    }

    // MARK: Invitations

    private func invitation(_ bunker: LabBunker, secret: String = "s3cret") -> (NostrConnectURL, client: KeyPair) {
        let client = self.key(77)
        return (NostrConnectURL(client: client.publicKey, relays: bunker.url.relays, secret: secret), client)
    }

    @Test func acceptedInvitationLogsIn() async throws {
        let (lab, login, bunker) = try await self.place(494)
        let (invitation, client) = self.invitation(bunker)
        let attempt = try await login.attempt(.invitation(invitation, client: client))
        #expect(!attempt.isOver)
        try await lab.accept(invitation, by: bunker)
        try await lab.settle()
        let account = self.key(494).publicKey
        #expect(attempt.account == account)
        let url = BunkerURL(remoteSigner: bunker.url.remoteSigner, relays: bunker.url.relays)
        #expect(login.identities.identities == [.bunker(account, url, client: client)])
        #expect(!bunker.methods.contains(.connect), "an accepted client is not introduced again")
        #expect(lab.clock.sleeperCount == 0)
    }

    @Test func ignoresAcceptanceWithWrongSecret() async throws {
        let (lab, login, bunker) = try await self.place(495)
        let (invitation, client) = self.invitation(bunker)
        let attempt = try await login.attempt(.invitation(invitation, client: client))
        try await lab.accept(self.invitation(bunker, secret: "guess").0, by: bunker)
        try await lab.advance(by: .seconds(299))
        #expect(!attempt.isOver)
        try await lab.advance(by: .seconds(2))
        #expect(attempt.failure == .signerAway)
        #expect(self.isIdle(login, lab), "a failed login must leave no timer")
    }

    @Test func refusesInvitationForOtherClient() async throws {
        let (lab, login, bunker) = try await self.place(497)
        let attempt = try await login.attempt(.invitation(self.invitation(bunker).0, client: self.key(78)))
        #expect(attempt.failure == .badCredential)
        #expect(bunker.methods.isEmpty && self.isIdle(login, lab))
    }

    @Test func refusesInvalidAddresses() async throws {
        let (lab, login, bunker) = try await self.place(485)
        let key = bunker.url.remoteSigner.hex
        for text in [
            "", "bunker://", "bunker://\(key)", "bunker://\(key)?relay=", "bunker://\(key)?relay=https://a.example",
            "nostrconnect://\(key)?relay=wss://a.example&secret=x", "bunker://\(key)?relay=wss://a.example&secret=%zz",
            String(repeating: "b", count: 9000), self.key(1).nsec,
        ] {
            let attempt = try await login.attempt(.bunker(text))
            #expect(attempt.failure == .badCredential, "\(text.prefix(40))")
            #expect(!attempt.message.contains(self.key(1).nsec))
        }
        #expect(bunker.methods.isEmpty && self.isIdle(login, lab))
    }

    // MARK: Cancellation

    @Test func cancelEndsSignerLogin() async throws {
        for conduct in [LabBunker.Conduct.silent, .wantsApproval(url: "https://signer.example/")] {
            let (lab, login, bunker) = try await self.place(489)
            bunker.conduct = conduct
            let attempt = login.begin(self.credential(bunker))
            try await lab.advance(by: .seconds(3))
            #expect(!attempt.isOver)
            attempt.cancel()
            try await lab.settle()
            #expect(attempt.error is CancellationError)
            #expect(self.isIdle(login, lab))
        }
    }

    @Test func cancelEndsInvitation() async throws {
        let (lab, login, bunker) = try await self.place(496)
        let (invitation, client) = self.invitation(bunker)
        let attempt = try await login.attempt(.invitation(invitation, client: client))
        attempt.cancel()
        try await lab.settle()
        #expect(attempt.error is CancellationError && self.isIdle(login, lab))
    }

    // MARK: Stored data

    @Test func logoutAndWipeDeleteClientKey() async throws {
        for wipes in [false, true] {
            let (_, login, bunker) = try await self.place(487)
            let account = self.key(487).publicKey
            #expect(try await login.attempt(self.credential(bunker)).account == account)
            let client = try self.storedClient(login)
            if wipes { try await login.wipe(account) } else { try await login.logOut(account) }
            #expect(login.identities.identities.isEmpty)
            // The signer does not know the next client, and the URL's secret was valid for one.
            #expect(try await login.attempt(self.credential(bunker)).failure == .signerRefused)
            #expect(bunker.clients == [client.publicKey] && login.identities.identities.isEmpty)
        }
    }

    @Test func neverShowsOrLogsSignerSecrets() async throws {
        let (lab, login, bunker) = try await self.place(492)
        #expect(try await login.attempt(self.credential(bunker)).account != nil)
        let client = try self.storedClient(login)
        let identity = try #require(login.identities.identities.first)
        var shown = lab.logLines.joined()
        dump(identity, to: &shown)
        shown += "\(identity)" + String(reflecting: identity)
        dump(self.credential(bunker), to: &shown)
        #expect(shown.contains(identity.account.description))
        for key in [client, self.key(492)] {
            for secret in [Hex.encode(key.secretBytes), key.nsec, "\(key.secretBytes)", bunker.secret] {
                #expect(!shown.contains(secret))
            }
        }
    }
}
