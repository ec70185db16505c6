import BotTesting
import Nostr
import Testing

@testable import PikaCore

/// Sessions of accounts with a remote signer (NIP-46).
@Suite struct SessionSignerTests {
    private let done = ActionOutcome.done(chatID: nil)

    private func key(_ seed: UInt64) -> KeyPair {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    private func place(_ seed: UInt64) async throws -> (lab: GroupLab, session: LabSession, bunker: LabBunker) {
        let lab = try GroupLab(seed: seed)
        let bunker = try await lab.bunker(of: self.key(seed))
        return (lab, try await lab.session("ann"), bunker)
    }

    private func login(_ bunker: LabBunker) -> AppAction { .login(.bunker(bunker.url.string)) }

    private func storedClient(_ session: LabSession) throws -> KeyPair {
        guard case .bunker(_, _, let client)? = session.identities.identity else {
            throw LabError(.injectedFault, "no signer is stored: \(String(describing: session.identities.identity))")
        }
        return client
    }

    private func isLoggedOut(_ session: LabSession) async throws -> Bool {
        let state = try await session.state()
        return state.auth == .loggedOut && state.busy == AppState.Busy() && state.signer == nil
            && session.host.openAccounts.isEmpty
    }

    // MARK: Login

    @Test func signerLogsInAndAccountChats() async throws {
        let (lab, session, bunker) = try await self.place(480)
        let bob = try await lab.member("bob")
        #expect(try await session.attempt(self.login(bunker)) == self.done)
        let account = self.key(480).publicKey
        let state = try await session.state()
        #expect(state.auth == .loggedIn(account, .remoteSigner))
        #expect(state.signer == .ready && state.hasPublishedKeyPackage && state.toast == nil)
        let client = try self.storedClient(session)
        #expect(session.identities.identity == .bunker(account, bunker.url, client: client))
        #expect(bunker.clients == [client.publicKey] && client.publicKey != account)
        #expect(bunker.methods.prefix(3) == [.connect, .getPublicKey, .getPublicKey])
        let outcome = try await session.attempt(.createGroupChat(name: "friends", peers: [bob.publicKey]))
        guard case .done(let chat?)? = outcome else {
            Issue.record("unexpected outcome: \(String(describing: outcome))")
            return
        }
        try await bob.say("hello", in: chat)
        #expect(try await session.state().chatList.map(\.lastMessage) == ["hello"])
        checkPromises(session)
    }

    @Test func restoredSessionStartsWithoutSigner() async throws {
        let (lab, session, bunker) = try await self.place(481)
        let account = self.key(481).publicKey
        let auth = AppState.Auth.loggedIn(account, .remoteSigner)
        #expect(try await session.attempt(self.login(bunker)) == self.done)
        let client = try self.storedClient(session)
        bunker.conduct = .silent
        try await session.restart()
        #expect(try await session.attempt(.restoreSession) == self.done)
        #expect(try await session.state().auth == auth)
        // Actions that need the signer wait; after the timeout the state shows that the signer does not respond.
        let profile = session.begin(.saveProfile(ProfileDraft(name: "Ann")))
        try await lab.advance(by: .seconds(31))
        #expect(session.outcomes(of: profile).isEmpty)
        guard case .away? = try await session.state().signer else {
            Issue.record("unexpected signer state: \(String(describing: try await session.state().signer))")
            return
        }
        bunker.conduct = .answers
        try await lab.advance(by: .seconds(90))
        #expect(session.outcomes(of: profile) == [self.done])
        #expect(try await session.state().signer == .ready)
        #expect(bunker.methods.filter { $0 == .connect }.count == 1, "the secret must be sent once")
        #expect(bunker.clients == [client.publicKey])
        checkPromises(session)
    }

    @Test func loginWaitsForApproval() async throws {
        let (lab, session, bunker) = try await self.place(482)
        let address = "https://signer.example/approve/1"
        bunker.conduct = .wantsApproval(url: address)
        let login = session.begin(self.login(bunker))
        try await lab.advance(by: .seconds(120))
        #expect(session.outcomes(of: login).isEmpty)
        let waiting = try await session.state()
        #expect(waiting.toast?.contains(address) == true && waiting.signer == .needsApproval(url: address))
        #expect(waiting.busy.loggingIn && waiting.auth == .loggedOut)
        try await lab.approve(bunker)
        #expect(session.outcomes(of: login) == [self.done])
        let state = try await session.state()
        #expect(state.toast == nil && state.signer == .ready)
        checkPromises(session)
    }

    // MARK: Failing signers

    @Test func absentSignerFailsLoginAtDeadline() async throws {
        let (lab, session, bunker) = try await self.place(483)
        bunker.conduct = .silent
        let silent = session.begin(self.login(bunker))
        try await lab.advance(by: .seconds(29))
        #expect(session.outcomes(of: silent).isEmpty)
        try await lab.advance(by: .seconds(1))
        #expect(session.outcomes(of: silent).map(\.failure) == [.signerAway])
        #expect(try await session.state().toast?.contains("within 30 s") == true)
        #expect(try await self.isLoggedOut(session))
        #expect(session.identities.identity == nil)
        lab.network.takeDown(lab.relay)
        let cut = session.begin(self.login(bunker))
        try await lab.advance(by: .seconds(30))
        #expect(session.outcomes(of: cut).map(\.failure) == [.signerAway])
        #expect(try await session.state().toast?.contains("can be reached") == true)
        lab.network.bringUp(lab.relay)
        bunker.conduct = .wantsApproval(url: "https://signer.example/")
        let unapproved = session.begin(self.login(bunker))
        try await lab.advance(by: .seconds(331))
        #expect(session.outcomes(of: unapproved).map(\.failure) == [.signerAway])
        #expect(try await self.isLoggedOut(session))
        #expect(lab.clock.sleeperCount == 0, "a failed login must leave no timer")
        checkPromises(session)
    }

    @Test func loginErrorQuotesSignersRefusal() async throws {
        let (_, session, bunker) = try await self.place(484)
        bunker.conduct = .refuses(reason: "ask my owner")
        #expect(try await session.attempt(self.login(bunker))?.failure == .signerRefused)
        #expect(try await session.state().toast?.contains("ask my owner") == true)
        #expect(session.identities.identity == nil)
        #expect(try await self.isLoggedOut(session))
        checkPromises(session)
    }

    // MARK: Invitations

    private func invitation(_ bunker: LabBunker, secret: String = "s3cret") -> (NostrConnectURL, client: KeyPair) {
        let client = self.key(77)
        return (NostrConnectURL(client: client.publicKey, relays: bunker.url.relays, secret: secret), client)
    }

    @Test func acceptedInvitationLogsIn() async throws {
        let (lab, session, bunker) = try await self.place(494)
        let (invitation, client) = self.invitation(bunker)
        let login = session.begin(.login(.invitation(invitation, client: client)))
        try await lab.settle()
        #expect(session.outcomes(of: login).isEmpty)
        try await lab.accept(invitation, by: bunker)
        try await lab.settle()
        #expect(session.outcomes(of: login) == [self.done])
        let account = self.key(494).publicKey
        let url = BunkerURL(remoteSigner: bunker.url.remoteSigner, relays: bunker.url.relays)
        #expect(session.identities.identity == .bunker(account, url, client: client))
        #expect(try await session.state().auth == .loggedIn(account, .remoteSigner))
        #expect(!bunker.methods.contains(.connect), "an accepted client is not introduced again")
        try await session.restart()
        #expect(try await session.attempt(.restoreSession) == self.done)
        #expect(try await session.attempt(.saveProfile(ProfileDraft(name: "Ann"))) == self.done)
        checkPromises(session)
    }

    @Test func ignoresAcceptanceWithWrongSecret() async throws {
        let (lab, session, bunker) = try await self.place(495)
        let (invitation, client) = self.invitation(bunker)
        let login = session.begin(.login(.invitation(invitation, client: client)))
        try await lab.settle()
        try await lab.accept(self.invitation(bunker, secret: "guess").0, by: bunker)
        try await lab.advance(by: .seconds(299))
        #expect(session.outcomes(of: login).isEmpty)
        try await lab.advance(by: .seconds(2))
        #expect(session.outcomes(of: login).map(\.failure) == [.signerAway])
        #expect(session.identities.identity == nil)
        #expect(try await self.isLoggedOut(session))
        #expect(lab.clock.sleeperCount == 0, "a failed login must leave no timer")
        checkPromises(session)
    }

    @Test func logoutCancelsInvitation() async throws {
        let (lab, session, bunker) = try await self.place(496)
        let (invitation, client) = self.invitation(bunker)
        let login = session.begin(.login(.invitation(invitation, client: client)))
        try await lab.settle()
        #expect(try await session.attempt(.logout) == self.done)
        #expect(session.outcomes(of: login).map(\.failure) == [.sessionEnded])
        #expect(session.identities.identity == nil && lab.clock.sleeperCount == 0)
        checkPromises(session)
    }

    @Test func refusesInvitationForOtherClient() async throws {
        let (_, session, bunker) = try await self.place(497)
        let login = AppAction.login(.invitation(self.invitation(bunker).0, client: self.key(78)))
        #expect(try await session.attempt(login)?.failure == .badCredential)
        #expect(bunker.methods.isEmpty && session.identities.identity == nil)
        checkPromises(session)
    }

    @Test func refusesInvalidAddresses() async throws {
        let (_, session, bunker) = try await self.place(485)
        let key = bunker.url.remoteSigner.hex
        for text in [
            "", "bunker://", "bunker://\(key)", "bunker://\(key)?relay=", "bunker://\(key)?relay=https://a.example",
            "nostrconnect://\(key)?relay=wss://a.example&secret=x", "bunker://\(key)?relay=wss://a.example&secret=%zz",
            String(repeating: "b", count: 9000), self.key(1).nsec,
        ] {
            #expect(try await session.attempt(.login(.bunker(text)))?.failure == .badCredential, "\(text.prefix(40))")
            #expect(try await session.state().toast?.contains(self.key(1).nsec) == false)
        }
        #expect(bunker.methods.isEmpty && session.identities.identity == nil)
        checkPromises(session)
    }

    @Test func refusesSignerOfAnotherAccount() async throws {
        let (lab, session, bunker) = try await self.place(486)
        let account = self.key(486).publicKey
        #expect(try await session.attempt(self.login(bunker)) == self.done)
        let identity = session.identities.identity
        bunker.hold(self.key(1))
        try await session.restart()
        #expect(try await session.attempt(self.login(bunker))?.failure == .wrongSigner)
        #expect(session.identities.identity == identity)
        #expect(try await self.isLoggedOut(session))
        // The account remains, but not with that key.
        #expect(try await session.attempt(.restoreSession) == self.done)
        let profile = session.begin(.saveProfile(ProfileDraft(name: "Ann")))
        try await lab.advance(by: .seconds(10))
        guard case .away(let reason)? = try await session.state().signer else {
            Issue.record("unexpected signer state: \(String(describing: try await session.state().signer))")
            return
        }
        #expect(reason.contains(account.npub) && reason.contains(self.key(1).publicKey.npub))
        #expect(session.outcomes(of: profile).isEmpty && !bunker.methods.suffix(1).contains(.signEvent))
        // After a logout, any account may log in.
        #expect(try await session.attempt(.logout) == self.done)
        #expect(session.outcomes(of: profile).map(\.failure) == [.sessionEnded])
        checkPromises(session)
    }

    // MARK: Stored data

    @Test func logoutAndWipeDeleteClientKey() async throws {
        for ending in [AppAction.logout, .wipeLocalData] {
            let (_, session, bunker) = try await self.place(487)
            #expect(try await session.attempt(self.login(bunker)) == self.done)
            let client = try self.storedClient(session)
            #expect(try await session.attempt(ending) == self.done)
            #expect(session.identities.identity == nil)
            #expect((session.host.store(of: self.key(487).publicKey) == nil) == (ending == .wipeLocalData))
            // The signer does not know the next client, and the URL's secret was valid for one.
            #expect(try await session.attempt(self.login(bunker))?.failure == .signerRefused)
            #expect(bunker.clients == [client.publicKey])
            #expect(try await self.isLoggedOut(session))
            checkPromises(session)
        }
    }

    @Test func retriesLoginWithSameClientKey() async throws {
        let (_, session, bunker) = try await self.place(488)
        session.host.failToOpen("the disk is full")
        #expect(try await session.attempt(self.login(bunker))?.failure == .accountUnavailable)
        session.host.failToOpen(nil)
        session.identities.fail([.save])
        #expect(try await session.attempt(self.login(bunker))?.failure == .identityUnavailable)
        session.identities.fail([])
        session.host.failToOpenSigners("no sockets left")
        #expect(try await session.attempt(self.login(bunker))?.failure == .accountUnavailable)
        #expect(try await session.state().toast?.contains("no sockets left") == true)
        session.host.failToOpenSigners(nil)
        #expect(try await self.isLoggedOut(session))
        #expect(try await session.attempt(self.login(bunker)) == self.done)
        #expect(bunker.clients == [try self.storedClient(session).publicKey])
        checkPromises(session)
    }

    @Test func logoutCancelsSignerLogin() async throws {
        for conduct in [LabBunker.Conduct.silent, .wantsApproval(url: "https://signer.example/")] {
            let (lab, session, bunker) = try await self.place(489)
            bunker.conduct = conduct
            let login = session.begin(self.login(bunker))
            let push = session.begin(.pushScreen(.newChat))
            try await lab.advance(by: .seconds(3))
            #expect(session.outcomes(of: login).isEmpty && session.outcomes(of: push).isEmpty)
            let logout = session.begin(.logout)
            try await lab.settle()
            #expect(session.outcomes(of: login).map(\.failure) == [.sessionEnded])
            #expect(session.outcomes(of: push).map(\.failure) == [.notLoggedIn])
            #expect(session.outcomes(of: logout) == [self.done])
            #expect(try await self.isLoggedOut(session))
            #expect(lab.clock.sleeperCount == 0)
            checkPromises(session)
        }
    }

    @Test func processEndFinishesLoginOnce() async throws {
        let (lab, session, bunker) = try await self.place(490)
        bunker.conduct = .silent
        let login = session.begin(self.login(bunker))
        try await lab.advance(by: .seconds(3))
        try await session.end()
        #expect(session.outcomes(of: login).map(\.failure) == [.sessionEnded])
        #expect(session.host.openAccounts.isEmpty && lab.clock.sleeperCount == 0)
        checkPromises(session)
    }

    // MARK: Secrets

    @Test func neverShowsOrLogsSignerSecrets() async throws {
        let (_, session, bunker) = try await self.place(492)
        #expect(try await session.attempt(self.login(bunker)) == self.done)
        let client = try self.storedClient(session)
        let identity = try #require(session.identities.identity)
        var shown = ""
        dump(identity, to: &shown)
        shown += "\(identity)" + String(reflecting: identity)
        dump(self.login(bunker), to: &shown)
        try await session.restart()
        _ = try await session.attempt(.restoreSession)
        _ = try await session.attempt(.logout)
        for update in session.updates {
            dump(update, to: &shown)
            shown += "\(update)" + String(reflecting: update)
        }
        #expect(shown.contains(identity.account.description))
        for key in [client, self.key(492)] {
            for secret in [Hex.encode(key.secretBytes), key.nsec, "\(key.secretBytes)", bunker.secret] {
                #expect(!shown.contains(secret))
            }
        }
    }
}
