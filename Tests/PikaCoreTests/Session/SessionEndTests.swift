import BotTesting
import Nostr
import Testing

@testable import PikaCore

@Suite struct SessionEndTests {
    private func key(_ seed: UInt64) -> KeyPair {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    private func loggedIn(_ lab: GroupLab, _ key: KeyPair) async throws -> LabSession {
        let session = try await lab.session("ann")
        #expect(try await session.attempt(.login(.key(key))) == .done(chatID: nil))
        return session
    }

    private func createGroup(_ session: LabSession, _ peer: LabMember) async throws -> String {
        let outcome = try await session.attempt(.createGroupChat(name: "friends", peers: [peer.publicKey]))
        guard case .done(let chat?)? = outcome else {
            Issue.record("unexpected outcome: \(String(describing: outcome))")
            return ""
        }
        return chat
    }

    // MARK: Logout

    @Test func logoutDeletesKeyAndKeepsState() async throws {
        let lab = try GroupLab(seed: 420)
        let bob = try await lab.member("bob")
        let session = try await self.loggedIn(lab, self.key(1))
        let chat = try await self.createGroup(session, bob)
        _ = try await session.attempt(.openChat(chatID: chat))
        #expect(try await session.attempt(.logout) == .done(chatID: nil))
        #expect(session.identities.identity == nil)
        #expect(session.host.openAccounts.isEmpty)
        let state = try await session.state()
        var expected = AppState()
        expected.rev = state.rev
        #expect(state == expected)
        #expect(try await session.attempt(.sendMessage(chatID: chat, .text("x")))?.failure == .notLoggedIn)
        #expect(try await session.attempt(.restoreSession)?.failure == .notLoggedIn)
        #expect(try await session.attempt(.logout) == .done(chatID: nil))
        #expect(try await session.attempt(.foregrounded) == .done(chatID: nil))
        // The next login restores the account's state and fetches the missed messages.
        try await bob.say("while you were away", in: chat)
        #expect(try await session.attempt(.login(.key(self.key(1)))) == .done(chatID: nil))
        #expect(try await session.state().chatList.map(\.chatID) == [chat])
        #expect(try await session.state().chatList.map(\.lastMessage) == ["while you were away"])
        checkPromises(session)
    }

    @Test func logoutEndsPendingActionsOnce() async throws {
        let lab = try GroupLab(seed: 421)
        let bob = try await lab.member("bob")
        let session = try await self.loggedIn(lab, self.key(2))
        let chat = try await self.createGroup(session, bob)
        lab.network.takeDown(lab.relay)
        try await lab.settle()
        // One action waits for a relay; the others are queued together with the logout.
        let rename = session.begin(.renameGroup(chatID: chat, name: "new"))
        try await lab.settle()
        #expect(session.outcomes(of: rename).isEmpty)
        let send = session.begin(.sendMessage(chatID: chat, .text("before the end")))
        let logout = session.begin(.logout)
        let late = session.begin(.sendMessage(chatID: chat, .text("after the end")))
        try await lab.settle()
        #expect(session.outcomes(of: rename).map(\.failure) == [.sessionEnded])
        guard case .queued? = session.outcomes(of: send).first else {
            Issue.record("expected the message to be queued, found \(session.outcomes(of: send))")
            return
        }
        #expect(session.outcomes(of: logout) == [.done(chatID: nil)])
        #expect(session.outcomes(of: late).map(\.failure) == [.notLoggedIn])
        lab.network.bringUp(lab.relay)
        try await lab.settle()
        #expect(bob.heard() == [])
        #expect(try await session.attempt(.login(.key(self.key(2)))) == .done(chatID: nil))
        try await lab.advance(by: .seconds(60))
        #expect(bob.heard() == ["before the end"])
        #expect(try await session.state().chatList.map(\.name) == ["new"])
        checkPromises(session)
    }

    @Test func failedLogoutCanBeRepeated() async throws {
        let lab = try GroupLab(seed: 422)
        let session = try await self.loggedIn(lab, self.key(3))
        session.identities.fail([.delete])
        #expect(try await session.attempt(.logout)?.failure == .identityUnavailable)
        #expect(try await session.state().auth == .loggedOut)
        #expect(session.identities.identity != nil)
        session.identities.fail([])
        #expect(try await session.attempt(.logout) == .done(chatID: nil))
        #expect(session.identities.identity == nil)
        checkPromises(session)
    }

    // MARK: Two accounts

    @Test func nextAccountSeesNothingOfPrevious() async throws {
        let lab = try GroupLab(seed: 423)
        let bob = try await lab.member("bob")
        let session = try await self.loggedIn(lab, self.key(4))
        let chat = try await self.createGroup(session, bob)
        _ = try await session.attempt(.openChat(chatID: chat))
        try await bob.say("for the first", in: chat)
        let before = session.updates.count
        _ = try await session.attempt(.logout)
        _ = try await session.attempt(.login(.key(self.key(5))))
        for update in session.updates.dropFirst(before) {
            guard case .fullState(let state) = update, state.auth != .loggedIn(self.key(4).publicKey, .localKey) else {
                continue
            }
            #expect(state.chatList.isEmpty && state.currentChat == nil && state.router.stack.isEmpty)
        }
        #expect(try await session.attempt(.openChat(chatID: chat))?.failure == .unknownChat)
        #expect(try await session.state().auth == .loggedIn(self.key(5).publicKey, .localKey))
        _ = try await session.attempt(.logout)
        _ = try await session.attempt(.login(.key(self.key(4))))
        #expect(try await session.state().chatList.map(\.chatID) == [chat])
        checkPromises(session)
    }

    // MARK: Wiping

    @Test func wipeDeletesKeyAndState() async throws {
        let lab = try GroupLab(seed: 424)
        let bob = try await lab.member("bob")
        let session = try await self.loggedIn(lab, self.key(6))
        _ = try await self.createGroup(session, bob)
        #expect(try await session.attempt(.wipeLocalData) == .done(chatID: nil))
        #expect(session.identities.identity == nil)
        #expect(session.host.store(of: self.key(6).publicKey) == nil)
        #expect(session.host.wipedAccounts == [self.key(6).publicKey])
        #expect(try await session.state().auth == .loggedOut)
        // No account is left to wipe.
        #expect(try await session.attempt(.wipeLocalData)?.failure == .notLoggedIn)
        _ = try await session.attempt(.login(.key(self.key(6))))
        #expect(try await session.state().chatList.isEmpty)
        checkPromises(session)
    }

    @Test func finishesFailedWipeLater() async throws {
        let lab = try GroupLab(seed: 425)
        for restarts in [false, true] {
            let session = try await lab.session("ann \(restarts)")
            let key = self.key(restarts ? 7 : 8)
            _ = try await session.attempt(.login(.key(key)))
            session.host.failToWipe("a file is busy")
            #expect(try await session.attempt(.wipeLocalData)?.failure == .accountUnavailable)
            // The key was deleted first; no login is possible before the remaining data is deleted.
            #expect(session.identities.identity == .wiping(key.publicKey))
            #expect(try await session.attempt(.restoreSession)?.failure == .accountUnavailable)
            #expect(try await session.attempt(.createAccount(name: nil))?.failure == .accountUnavailable)
            #expect(try await session.attempt(.logout)?.failure == .accountUnavailable)
            #expect(session.identities.identity == .wiping(key.publicKey))
            checkPromises(session)
            if restarts {
                try await session.restart()
                #expect(try await session.state().toast?.contains("a file is busy") == true)
                session.host.failToWipe(nil)
                try await session.restart()
                #expect(try await session.state().toast == nil)
            } else {
                session.host.failToWipe(nil)
                #expect(try await session.attempt(.wipeLocalData) == .done(chatID: nil))
            }
            #expect(session.identities.identity == nil)
            #expect(session.host.wipedAccounts == [key.publicKey])
            checkPromises(session)
        }
    }

    @Test func failedKeyDeletionKeepsEverything() async throws {
        let lab = try GroupLab(seed: 426)
        let session = try await self.loggedIn(lab, self.key(9))
        session.identities.fail([.save])
        #expect(try await session.attempt(.wipeLocalData)?.failure == .identityUnavailable)
        #expect(session.host.wipedAccounts.isEmpty)
        #expect(session.identities.identity == .key(self.key(9)))
        // The stored identity now names the account to wipe.
        session.identities.fail([])
        #expect(try await session.attempt(.wipeLocalData) == .done(chatID: nil))
        #expect(session.host.wipedAccounts == [self.key(9).publicKey])
        checkPromises(session)
    }

    // MARK: Failures

    @Test func storeFailureEndsAccountButNotSession() async throws {
        let lab = try GroupLab(seed: 427)
        let session = try await self.loggedIn(lab, self.key(10))
        let store = try #require(session.host.store(of: self.key(10).publicKey))
        store.failNextCommit()
        let request = session.begin(.publishKeyPackage)
        let image = session.begin(.setGroupImage(chatID: "x", nil))
        try await lab.settle()
        for id in [request, image] { #expect(session.outcomes(of: id).count == 1) }
        let state = try await session.state()
        // Actions without a commit do not fail; the next one with a commit ends the session.
        if state.auth != .loggedOut {
            lab.network.takeDown(lab.relay)
            _ = try await session.attempt(.createGroupChat(name: "x", peers: [self.key(11).publicKey]))
        }
        #expect(try await session.state().auth == .loggedOut)
        #expect(try await session.state().toast?.contains("injected commit failure") == true)
        #expect(session.identities.identity == .key(self.key(10)))
        #expect(session.host.openAccounts.isEmpty)
        #expect(try await session.attempt(.restoreSession) == .done(chatID: nil))
        #expect(try await session.state().toast == nil)
        checkPromises(session)
    }

    @Test func unreadableStoreFailsLogin() async throws {
        let lab = try GroupLab(seed: 428)
        let session = try await self.loggedIn(lab, self.key(12))
        _ = try await session.attempt(.logout)
        session.host.breakStores(true)
        let login = session.begin(.login(.key(self.key(12))))
        let push = session.begin(.pushScreen(.newChat))
        try await lab.settle()
        #expect(session.outcomes(of: login).map(\.failure) == [.accountUnavailable])
        #expect(session.outcomes(of: push).count == 1)
        #expect(try await session.state().auth == .loggedOut)
        #expect(session.host.openAccounts.isEmpty)
        checkPromises(session)
    }

    @Test func processEndFinishesEveryActionOnce() async throws {
        let lab = try GroupLab(seed: 429)
        let bob = try await lab.member("bob")
        let session = try await self.loggedIn(lab, self.key(13))
        let chat = try await self.createGroup(session, bob)
        lab.network.takeDown(lab.relay)
        let rename = session.begin(.renameGroup(chatID: chat, name: "new"))
        try await lab.settle()
        let queued = session.begin(.renameGroup(chatID: chat, name: "newer"))
        try await session.end()
        #expect(session.outcomes(of: rename).map(\.failure) == [.sessionEnded])
        #expect(session.outcomes(of: queued).count == 1)
        #expect(session.host.openAccounts.isEmpty)
        #expect(session.identities.identity == .key(self.key(13)))
        checkPromises(session)
        lab.network.bringUp(lab.relay)
        try await session.restart()
        _ = try await session.attempt(.restoreSession)
        try await lab.advance(by: .seconds(60))
        #expect(try await session.state().chatList.map(\.name) == ["new"])
        checkPromises(session)
    }

    // MARK: Secrets

    @Test func noSecretIsShownOrLogged() async throws {
        let lab = try GroupLab(seed: 430)
        let session = try await lab.session("ann")
        var generator = SeededGenerator(seed: 14)
        let key = self.key(14)
        let text = try key.encrypted(password: NIP49.Password("hunter2"), logN: 1, using: &generator)
        let actions: [AppAction] = [
            .createAccount(name: "Ann"), .logout, .login(.key(key)), .logout,
            .login(.encryptedKey(text, password: "wrong horse")), .login(.encryptedKey(text, password: "hunter2")),
            .logout, .login(.bunker("bunker://\(key.publicKey.hex)?secret=topsecret")),
            .login(.storedKey(password: "hunter2")), .login(.encryptedKey(key.nsec, password: "hunter2")),
        ]
        for action in actions { _ = try await session.attempt(action) }
        var shown = ""
        for action in actions {
            dump(action, to: &shown)
            shown += "\(action)" + String(reflecting: action)
        }
        for update in session.updates {
            dump(update, to: &shown)
            shown += "\(update)" + String(reflecting: update)
        }
        for identity in [AccountIdentity.key(key), .encryptedKey(key.publicKey, ncryptsec: text)] {
            dump(identity, to: &shown)
            shown += "\(identity)" + String(reflecting: identity)
        }
        shown += lab.logLines.joined()
        let created = session.updates.compactMap {
            if case .accountCreated(_, let key) = $0 { key } else { nil as KeyPair? }
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
        checkPromises(session)
    }
}
