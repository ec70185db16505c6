import BotTesting
import Nostr
import Testing

@testable import PikaCore

/// Invariants of every session.
func checkPromises(_ session: LabSession) {
    var rev: UInt64 = 0
    var ended: Set<RequestID> = []
    for update in session.updates {
        switch update {
        case .fullState(let state):
            #expect(state.rev > rev, "revs must increase")
            rev = state.rev
            let open: String? = if case .chat(let chatID) = state.router.top { chatID } else { nil }
            #expect(state.currentChat?.chatID == open, "the open chat must be filled, and no other")
            if state.auth == .loggedOut {
                #expect(state.router == AppState.Router(), "a logout must reset the router")
                #expect(state.chatList.isEmpty && state.relays.isEmpty && state.outbox.pending == 0)
            }
        case .finished(let at, let request, _):
            #expect(at <= rev && at > 0, "an outcome must refer to a published snapshot")
            #expect(ended.insert(request).inserted, "each request must have one outcome")
        case .delivery(let at, _, _, _), .accountCreated(let at, _): #expect(at == rev)
        }
    }
    #expect(session.host.openAccounts.count <= 1)
}

extension ActionOutcome {
    fileprivate var isDone: Bool { self == .done(chatID: nil) }
}

@Suite struct SessionTests {
    private func key(_ seed: UInt64) -> KeyPair {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    private func created(_ session: LabSession) -> [KeyPair] {
        session.updates.compactMap { if case .accountCreated(_, let key) = $0 { key } else { nil } }
    }

    // MARK: Account creation

    @Test func createsAccountAndReturnsKeyOnce() async throws {
        let lab = try GroupLab(seed: 400)
        let session = try await lab.session("ann")
        #expect(session.snapshots.map(\.auth) == [.loggedOut])
        #expect(session.snapshots.map(\.router.top) == [.login])
        #expect(try await session.attempt(.createAccount(name: nil))?.isDone == true)
        let key = try #require(self.created(session).first)
        #expect(self.created(session).count == 1)
        #expect(session.identities.identity == .key(key))
        #expect(session.host.openAccounts == [key.publicKey])
        // Logged out, creating, logged in: the key is in the account's first snapshot, before the outcome.
        let states = session.snapshots
        #expect(states[1].busy.creatingAccount && states[1].auth == .loggedOut)
        #expect(states[2].auth == .loggedIn(key.publicKey, .localKey) && !states[2].busy.creatingAccount)
        #expect(states[2].router.top == .chatList)
        let order = session.updates.compactMap { update -> String? in
            switch update {
            case .fullState(let state): state.rev == states[2].rev ? "state" : nil
            case .accountCreated: "key"
            case .finished: "outcome"
            case .delivery: nil
            }
        }
        #expect(order == ["state", "key", "outcome"])
        #expect(try await session.state().hasPublishedKeyPackage)
        // Later readers do not receive it.
        try await session.restart()
        _ = try await session.attempt(.restoreSession)
        #expect(self.created(session).isEmpty)
        #expect(try await session.state().auth == .loggedIn(key.publicKey, .localKey))
        checkPromises(session)
    }

    @Test func newAccountNameBecomesProfile() async throws {
        let lab = try GroupLab(seed: 408)
        let session = try await lab.session("ann")
        #expect(try await session.attempt(.createAccount(name: "Ann"))?.isDone == true)
        let key = try #require(self.created(session).first)
        #expect(try await session.state().myProfile?.name == "Ann")
        #expect(try await session.state().toast == nil)
        let published = lab.network.events(at: lab.relay).filter { $0.kind == .metadata }
        #expect(published.map(\.pubkey) == [key.publicKey])
        checkPromises(session)
    }

    @Test func refusesAccountThatCannotBeStored() async throws {
        let lab = try GroupLab(seed: 401)
        let session = try await lab.session("ann")
        session.identities.fail([.save])
        #expect(try await session.attempt(.createAccount(name: "Ann"))?.failure == .identityUnavailable)
        #expect(self.created(session).isEmpty)
        #expect(session.host.openAccounts.isEmpty)
        let state = try await session.state()
        #expect(state.auth == .loggedOut && state.busy == AppState.Busy() && state.toast != nil)
        _ = try await session.attempt(.clearToast)
        #expect(try await session.state().toast == nil)
        session.identities.fail([])
        #expect(try await session.attempt(.createAccount(name: nil))?.isDone == true)
        checkPromises(session)
    }

    // MARK: Login

    @Test func logsInWithKeyAndRestoresSession() async throws {
        let lab = try GroupLab(seed: 402)
        let bob = try await lab.member("bob")
        let session = try await lab.session("ann")
        let key = self.key(1)
        #expect(try await session.attempt(.login(.key(key)))?.isDone == true)
        #expect(session.snapshots[1].busy.loggingIn)
        #expect(try await session.state().auth == .loggedIn(key.publicKey, .localKey))
        let outcome = try await session.attempt(.createGroupChat(name: "friends", peers: [bob.publicKey]))
        guard case .done(let chat?)? = outcome else {
            Issue.record("unexpected outcome: \(String(describing: outcome))")
            return
        }
        try await bob.say("hello", in: chat)
        #expect(session.events.map(\.account).allSatisfy { $0 == key.publicKey })
        #expect(
            session.events.contains {
                if case .message(let message) = $0.event.content { message.content == "hello" } else { false }
            })
        try await session.restart()
        #expect(session.snapshots.map(\.auth) == [.loggedOut])
        #expect(try await session.attempt(.restoreSession)?.isDone == true)
        let state = try await session.state()
        #expect(state.auth == .loggedIn(key.publicKey, .localKey))
        #expect(state.chatList.map(\.chatID) == [chat])
        // A running session continues.
        #expect(try await session.attempt(.restoreSession)?.isDone == true)
        checkPromises(session)
    }

    @Test func encryptedKeyNeedsPasswordAfterRestart() async throws {
        let lab = try GroupLab(seed: 403)
        let session = try await lab.session("ann")
        var generator = SeededGenerator(seed: 9)
        let key = self.key(2)
        // The NIP's own password: the same characters in two forms.
        let text = try key.encrypted(
            password: NIP49.Password("\u{212B}\u{2126}\u{1E9B}\u{0323}"), logN: 2, security: .notKnownInsecure,
            using: &generator)
        let wrong = try await session.attempt(.login(.encryptedKey(text, password: "other")))
        #expect(wrong?.failure == .wrongPassword)
        #expect(session.identities.identity == nil)
        let password = "\u{C5}\u{3A9}\u{1E69}"
        #expect(try await session.attempt(.login(.encryptedKey(text, password: password)))?.isDone == true)
        #expect(try await session.state().auth == .loggedIn(key.publicKey, .encryptedKey))
        #expect(session.identities.identity == .encryptedKey(key.publicKey, ncryptsec: text))
        try await session.restart()
        #expect(try await session.attempt(.restoreSession)?.failure == .passwordNeeded)
        #expect(try await session.attempt(.login(.storedKey(password: "other")))?.failure == .wrongPassword)
        #expect(try await session.attempt(.login(.storedKey(password: password)))?.isDone == true)
        #expect(try await session.state().auth == .loggedIn(key.publicKey, .encryptedKey))
        checkPromises(session)
    }

    @Test func hostileCredentialsAreRefused() async throws {
        let lab = try GroupLab(seed: 404)
        let session = try await lab.session("ann")
        for text in ["", "nsec1", "ncryptsec1", String(repeating: "q", count: 6000), self.key(3).nsec] {
            let outcome = try await session.attempt(.login(.encryptedKey(text, password: "x")))
            #expect(outcome?.failure == .badCredential, "\(text.prefix(12))")
        }
        #expect(try await session.attempt(.login(.storedKey(password: "x")))?.failure == .notLoggedIn)
        #expect(try await session.attempt(.restoreSession)?.failure == .notLoggedIn)
        #expect(session.host.openAccounts.isEmpty)
        checkPromises(session)
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

    @Test func reportsAccountThatCannotOpen() async throws {
        let lab = try GroupLab(seed: 405)
        let session = try await lab.session("ann")
        session.host.failToOpen("the disk is gone")
        let outcome = try await session.attempt(.login(.key(self.key(5))))
        #expect(outcome?.failure == .accountUnavailable)
        #expect(session.identities.identity == nil)
        #expect(try await session.state().toast?.contains("the disk is gone") == true)
        session.host.failToOpen(nil)
        #expect(try await session.attempt(.login(.key(self.key(5))))?.isDone == true)
        #expect(try await session.attempt(.login(.key(self.key(6))))?.failure == .notAllowed)
        #expect(try await session.attempt(.createAccount(name: nil))?.failure == .notAllowed)
        #expect(try await session.state().auth == .loggedIn(self.key(5).publicKey, .localKey))
        checkPromises(session)
    }

    @Test func refusesLoginOverStoredKey() async throws {
        let lab = try GroupLab(seed: 411)
        let session = try await lab.session("ann")
        #expect(try await session.attempt(.login(.key(self.key(5))))?.isDone == true)
        try await session.restart()
        session.host.failToOpen("the disk is gone")
        #expect(try await session.attempt(.restoreSession)?.failure == .accountUnavailable)
        session.host.failToOpen(nil)
        #expect(try await session.attempt(.createAccount(name: nil))?.failure == .notAllowed)
        #expect(try await session.attempt(.login(.key(self.key(6))))?.failure == .notAllowed)
        #expect(session.identities.identity?.account == self.key(5).publicKey)
        #expect(session.host.openAccounts.isEmpty && self.created(session).isEmpty)
        #expect(try await session.attempt(.login(.key(self.key(5))))?.isDone == true)
        checkPromises(session)
    }

    @Test func actionsWaitForPendingLogin() async throws {
        let lab = try GroupLab(seed: 406)
        let session = try await lab.session("ann")
        session.host.holdOpening()
        let login = session.begin(.login(.key(self.key(7))))
        let push = session.begin(.pushScreen(.newChat))
        let second = session.begin(.login(.key(self.key(8))))
        try await lab.settle()
        #expect(session.outcomes(of: push).isEmpty && session.outcomes(of: login).isEmpty)
        #expect(try await session.state().busy.loggingIn)
        session.host.releaseOpening()
        try await lab.settle()
        #expect(session.outcomes(of: login).map(\.isDone) == [true])
        #expect(session.outcomes(of: push).map(\.isDone) == [true])
        #expect(session.outcomes(of: second).map(\.failure) == [.notAllowed])
        #expect(try await session.state().router.top == .newChat)
        checkPromises(session)
    }

    @Test func cancelledOpeningReleasesNoOther() async throws {
        let lab = try GroupLab(seed: 419)
        let session = try await lab.session("ann")
        session.host.holdOpening()
        let login = session.begin(.login(.key(self.key(10))))
        try await lab.settle()
        let (host, key) = (session.host, self.key(11))
        let opening = Task { try await host.open(.local(key)) }
        opening.cancel()
        await #expect(throws: CancellationError.self) { _ = try await opening.value }
        try await lab.settle()
        #expect(session.outcomes(of: login).isEmpty)
        session.host.releaseOpening()
        try await lab.settle()
        #expect(session.outcomes(of: login).map(\.isDone) == [true])
        checkPromises(session)
    }

    @Test func logoutCancelsLogin() async throws {
        let lab = try GroupLab(seed: 407)
        for ending in [AppAction.logout, .wipeLocalData] {
            let session = try await lab.session("ann \(ending)")
            session.host.holdOpening()
            let login = session.begin(.login(.key(self.key(9))))
            try await lab.settle()
            let push = session.begin(.pushScreen(.newChat))
            let end = session.begin(ending)
            try await lab.settle()
            #expect(session.outcomes(of: login).map(\.failure) == [.sessionEnded])
            #expect(session.outcomes(of: push).map(\.failure) == [.notLoggedIn])
            #expect(session.outcomes(of: end).count == 1)
            #expect(session.host.openAccounts.isEmpty)
            #expect(session.identities.identity == nil)
            #expect(try await session.state().auth == .loggedOut)
            #expect(try await session.state().busy == AppState.Busy())
            checkPromises(session)
        }
    }
}
