import BotProgram
import BotRuntime
import Foundation
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import Storage

/// The account of a command.
struct Client: Sendable {
    let key: AccountKey
    let account: LocalAccount
    private static let readingTime = Duration.seconds(12)
    private static let deliveryTime = Duration.seconds(30)
    private static let lingering = Duration.seconds(3)

    /// Waits until every relay was read or has failed.
    ///
    /// If no relay answers, prints a notice and continues with the stored state; with `needed` it throws instead.
    ///
    /// - Parameter advice: what to do then.
    func catchUp(needed: Bool = false, advice: String = "try again, or add another relay with --relay") async throws {
        Console.progress("reading relays…")
        _ = try? await withDeadline(Self.readingTime) {
            for await case .fullState(let state) in account.core.updates() where state.isRead { return }
        }
        try Task.checkCancellation()
        // Invitations are known once the remote signer has decrypted them.
        if case .remote = key {
            await settle(Self.readingTime)
            await reportSigner()
        }
        let relays = await account.core.state.relays
        let problems = relays.filter { !$0.isCaughtUp }.map { "\($0.url): \($0.connection.words)" }.sorted()
        guard !problems.isEmpty else { return }
        let isAnyRead = relays.contains(where: \.isCaughtUp)
        let reasons = problems.joined(separator: "; ")
        guard isAnyRead || !needed else {
            throw CommandError("no relay answered (\(reasons)); \(advice)")
        }
        Console.printError(
            isAnyRead
                ? "Not all relays answered: \(reasons)"
                : "No relay answered; showing the stored state: \(reasons)")
    }

    /// Prints the reason why the account's remote signer does not perform requests.
    func reportSigner() async {
        switch await account.core.state.signer {
        case .away(let reason)?: Console.printError("The remote signer is away: \(reason)")
        case .refused(let reason)?: Console.printError("The remote signer refuses a request: \(reason)")
        case .needsApproval(let url)?: Console.printError("Approve a request at the remote signer: \(url)")
        case .unknown?, .ready?, nil: break
        }
    }

    /// Sends a message and waits until a relay has accepted it; returns its id and that of the kind 445 event.
    func send(_ action: AppAction) async throws -> (messageID: EventID, wrapper: EventID) {
        guard case .queued(let messageID, let wrapper) = try await account.perform(action) else {
            throw CommandError("the message could not be queued")
        }
        try await awaitDelivery(of: messageID)
        return (messageID, wrapper)
    }

    func awaitDelivery(of messageID: EventID) async throws {
        Console.progress("sending…")
        let delivery: AppState.Delivery
        do {
            delivery = try await withDeadline(Self.deliveryTime) {
                try await account.deliveries.first { $0.messageID == messageID ? $0.delivery : nil }
            }
        } catch let error as DeadlineExceeded {
            throw CommandError("sending the message \(error); it stays queued, and the next command sends it")
        }
        if case .failed(let reason) = delivery {
            throw CommandError("every relay refused the message: \(reason)")
        }
    }

    /// Waits briefly for activity in progress, such as the other relays' answers.
    func settle(_ limit: Duration = lingering) async {
        _ = try? await withDeadline(limit) {
            while true {
                let activity = account.core.activity
                if !activity.isProcessing, activity.calls == 0 { return }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Returns the chat with this MLS group id, or with this nostrGroupID if no other group claims it.
    func chat(_ reference: String) async throws -> AppState.ChatSummary {
        let state = await account.core.state
        let named: AppState.ChatSummary?
        do throws(AppCoreError) { named = try state.chat(named: reference) } catch {
            throw CommandError(error.message)
        }
        guard let chat = named else {
            throw CommandError("no group has the id \(reference); `pikabot groups` lists them")
        }
        return chat
    }

    /// Returns the chat with this id.
    func chat(_ chatID: ChatID) async throws -> AppState.ChatSummary { try await chat(chatID.rawValue) }

    /// Returns the chat that a reference names, as ``chat(_:)`` does; throws if this account is no longer a member.
    func activeChat(_ reference: String) async throws -> AppState.ChatSummary {
        let chat = try await chat(reference)
        guard chat.isActive else { throw CommandError("this account is no longer in the group \(reference)") }
        return chat
    }

    /// Returns the chat with only `peer` as the other member, and creates it if absent.
    func directChat(with peer: PublicKey) async throws -> (chatID: ChatID, isNew: Bool) {
        guard peer != key.publicKey else {
            throw CommandError("--to is this account itself; `pikabot identity` shows its key")
        }
        let chats = await account.core.state.chatList.filter { chat in
            chat.isActive && !chat.needsInvitation
                && chat.members.map(\.publicKey) == [peer]
        }
        if let chat = chats.first(where: { !$0.isGroup }) ?? chats.first { return (chat.chatID, false) }
        return (try await createChat(.createChat(peer: peer)), true)
    }

    /// Creates a chat and waits until a relay has accepted the invitation; returns its id.
    func createChat(_ action: AppAction) async throws -> ChatID {
        Console.progress("looking for the peer's key package…")
        switch try await account.perform(action) {
        case .done(let chatID?): return chatID
        case .partlyDone(let chatID, let left):
            let reasons = left.map { "\($0.key.npub): \($0.value.words)" }.sorted().joined(separator: "; ")
            throw CommandError("the group \(chatID) was created, but the invitation was not delivered (\(reasons))")
        default: throw CommandError("the group was not created")
        }
    }
}

extension AppState {
    /// Whether every relay was read or has failed.
    fileprivate var isRead: Bool {
        relays.allSatisfy { relay in
            if case .retrying = relay.connection { return true }
            return relay.isCaughtUp
        }
    }
}

/// Opens the account that the options choose, runs it for as long as `body` does, and closes it.
///
/// - Parameter configuration: The core's configuration; that of the options by default.
func withClient<Result: Sendable>(
    _ options: ClientOptions, _ configuration: CoreConfiguration? = nil,
    _ body: @escaping @Sendable (Client) async throws -> Result
) async throws -> Result {
    let folder = try options.accountFolder()
    let logger = Logger(label: "pikabot")
    let held = try StoredIdentity.loadOrCreate(in: folder).heldKey(logger: logger)
    let settings = LocalAccountSettings(
        key: held, core: try configuration ?? options.coreConfiguration(), stateDirectory: folder, keepsEvents: true,
        addresses: AddressGuard(allowsPrivate: options.allowsPrivateAddresses), logger: logger)
    do {
        return try await withLocalAccount(settings) { try await body(Client(key: held.key, account: $0)) }
    } catch let error as StoreError where error.code == .locked {
        throw CommandError.inUse(error, stateDirectory: folder)
    } catch let error as AppCoreError {
        throw CommandError(error.explanation)
    }
}

extension CommandError {
    /// The error for a state directory that another process uses.
    static func inUse(_ error: StoreError, stateDirectory: String) -> CommandError {
        let socket = DaemonSocketPath.path(stateDirectory: stateDirectory)
        guard FileManager.default.fileExists(atPath: socket) else { return CommandError(error.message) }
        return CommandError("\(error.message). A daemon holds it: add --remote to run the command there.")
    }
}

extension InviteFailure {
    fileprivate var words: String {
        switch self {
        case .keyPackage(let verdict): verdict.description
        case .welcomeRefused(let reason): reason
        }
    }
}

extension AppCoreError {
    /// Description for people, including each affected peer.
    var explanation: String {
        let details = peers.map { "\($0.key.npub): \($0.value)" }.sorted().joined(separator: "; ")
        return details.isEmpty ? message : "\(message) (\(details)). Check that the peer has run `pikabot publish-kp`."
    }
}
