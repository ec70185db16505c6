import BotTesting
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import Daemon

/// Accounts of a state directory in memory.
private final class MemoryAccounts: DaemonAccounts {
    struct Logout: Equatable {
        let account: PublicKey?
        let erases: Bool
    }

    let key: PublicKey
    /// Nil if logins end at once.
    let release: Promise<Bool>?
    private let logged = Mutex<[Logout]>([])

    init(_ key: PublicKey, release: Promise<Bool>? = nil) {
        self.key = key
        self.release = release
    }

    var logouts: [Logout] { self.logged.withLock { $0 } }

    func list() throws(DaemonFailure) -> [JSONObject] { [["npub": .string(self.key.npub)]] }

    func logIn(
        _ login: DaemonCommand.Login, onApproval: @escaping @Sendable (String) -> Void
    ) async throws(DaemonFailure) -> JSONObject {
        if login.bunker != nil { onApproval("https://signer.example/approve") }
        if let release { _ = await release.wait() }
        guard login.nsecFile == nil else { throw DaemonFailure(.loginFailed, "the file cannot be read") }
        return ["npub": .string(self.key.npub)]
    }

    func logOut(_ account: PublicKey, erases: Bool) async throws(DaemonFailure) {
        self.logged.withLock { $0.append(Logout(account: account, erases: erases)) }
    }

    func logOutAfterEnd(erases: Bool) {
        self.logged.withLock { $0.append(Logout(account: nil, erases: erases)) }
    }
}

/// `list_accounts`, `login`, `logout` and `signer_state`.
@Suite struct AccountCommandTests {
    private func other(_ seed: UInt64) -> PublicKey {
        var generator = SeededGenerator(seed: seed)
        return KeyPair.generate(using: &generator).publicKey
    }

    @Test func commandsNeedStateDirectory() async throws {
        let daemon = try await DaemonLab.make(seed: 610)
        for command in ["list_accounts", "login", "logout"] {
            #expect(try await daemon.failure(command) == "not_allowed")
        }
    }

    @Test func listsAccounts() async throws {
        let key = self.other(1)
        let daemon = try await DaemonLab.make(seed: 611, accounts: MemoryAccounts(key))
        let result = try await daemon.result("list_accounts")
        #expect(result["accounts"]?.array?.map { $0["npub"]?.string } == [key.npub])
    }

    @Test func loginReportsApprovalAndAccount() async throws {
        let key = self.other(2)
        let daemon = try await DaemonLab.make(seed: 612, accounts: MemoryAccounts(key))
        let result = try await daemon.result("login", ["bunker": "bunker://x"])
        #expect(result["npub"]?.string == key.npub)
        let event = try #require(daemon.events("signer_state").first)
        #expect(event["state"]?.string == "needs_approval" && event["pubkey"] == nil)
        #expect(event["url"]?.string == "https://signer.example/approve")
        #expect(try await daemon.failure("login", ["nsec_file": "f"]) == "login_failed")
    }

    @Test func commandsRunDuringLogin() async throws {
        let release = Promise<Bool>()
        let accounts = MemoryAccounts(self.other(3), release: release)
        let daemon = try await DaemonLab.make(seed: 613, accounts: accounts)
        #expect(try await daemon.command("login") == nil)
        #expect(try await daemon.failure("login") == "busy")
        #expect(try await daemon.result("list_groups")["groups"] != nil)
        release.fulfill(true)
        try await daemon.lab.settle()
        #expect(daemon.lines.contains { $0["request_id"] == "r1" && $0["type"] == "ok" })
        #expect(try await daemon.failure("login") == nil)
    }

    @Test func logsOutOtherAccount() async throws {
        let key = self.other(4)
        let accounts = MemoryAccounts(key)
        let daemon = try await DaemonLab.make(seed: 614, accounts: accounts)
        let result = try await daemon.result("logout", ["account": .string(key.npub), "erase": true])
        #expect(result["npub"]?.string == key.npub && result["erased"]?.bool == true)
        #expect(accounts.logouts == [MemoryAccounts.Logout(account: key, erases: true)])
        #expect(try await daemon.failure("logout", ["account": "x"]) == "bad_pubkey")
        #expect(!daemon.standard.lines.isDone)
    }

    @Test func ownLogoutEndsDaemon() async throws {
        let accounts = MemoryAccounts(self.other(5))
        let daemon = try await DaemonLab.make(seed: 615, accounts: accounts)
        let result = try await daemon.result("logout")
        #expect(result["pubkey"]?.string == daemon.account.publicKey.hex && result["erased"]?.bool == false)
        #expect(accounts.logouts == [MemoryAccounts.Logout(account: nil, erases: false)])
        #expect(daemon.standard.lines.isDone)
    }

    @Test func signerChangesAreAnnouncedOnce() {
        var progress = AccountProgress()
        #expect(progress.change(of: nil) == nil && progress.change(of: .unknown) == nil)
        #expect(progress.change(of: .ready) == .ready)
        #expect(progress.change(of: .ready) == nil)
        #expect(progress.change(of: .away(reason: "offline")) == .away(reason: "offline"))
    }

    @Test func signerStateIsEncoded() throws {
        let key = self.other(6)
        let line = DaemonEvent.signerState(.away(reason: "offline"), key).line()
        #expect(line == #"{"type":"signer_state","pubkey":"\#(key.hex)","state":"away","reason":"offline"}"#)
        #expect(DaemonEvent.signerState(.ready, nil).line() == #"{"type":"signer_state","state":"ready"}"#)
    }

    @Test func descriptionOfPushTokenHidesSecrets() {
        let command = DaemonCommand.registerPushToken(
            .init(server: "s", relay: "r", platform: "fcm", tokenHex: "c0ffee"))
        var dumped = ""
        dump(command, to: &dumped)
        #expect(!dumped.contains("c0ffee") && !"\(command)".contains("c0ffee"))
    }

    @Test func descriptionOfLoginHidesSecrets() {
        let login = DaemonCommand.Login(bunker: "bunker://x?secret=hunter2")
        var dumped = ""
        dump(DaemonCommand.logIn(login), to: &dumped)
        #expect(!dumped.contains("hunter2") && !"\(login)".contains("hunter2"))
    }
}
