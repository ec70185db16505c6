import CallMedia
import Nostr
import PikaCore

/// The next step of a command, up to its reply. ``DaemonMachine`` decides on it, and ``DaemonEngine`` performs it and
/// passes the answer to the step's continuation, which decides on the step after it.
enum CommandStep {
    typealias Next<Answer> = (inout DaemonMachine, Answer) throws(DaemonFailure) -> CommandStep
    typealias Continue = (inout DaemonMachine) throws(DaemonFailure) -> CommandStep

    /// The command has succeeded.
    case reply(CommandResult)
    /// As ``reply(_:)``, for a `hello` of a client with this name.
    case greet(String, CommandResult)
    /// The result of ``DaemonSettings/accounts`` is the reply.
    case manageAccounts(DaemonCommand)
    /// Dispatches an action. An action with an idempotency key is performed at most once. The time is
    /// ``DaemonSettings/commandPatience`` if nil; the outcome is nil on timeout.
    case request(AppAction, key: String?, within: Int64?, Next<ActionOutcome?>)
    /// Waits for a state, at most this many milliseconds.
    case waitForState(Int64, @Sendable (AppState) -> Bool, Continue)
    /// Waits until the events that the core has delivered so far are sent to clients.
    case waitForEvents(Continue)
    /// Waits until a relay has accepted a message; nil is a timeout.
    case waitForRelay(EventID, Next<AppState.Delivery?>)
    case readProfiles(chatID: ChatID, Next<[AppState.Profile]>)
    case readMessages(
        chatID: ChatID, before: StoredMessage.Position? = nil, limit: Int, Next<Result<[StoredMessage], any Error>>)
    case readFile(path: String, Next<Result<[UInt8], RegularFile.Failure>>)
    case readCallSession(callID: String, Next<CallSession?>)
    case openMedia(callID: String, Next<CallMediaSession?>)
    case sendData(CallMediaSession, [UInt8], track: String?, Next<AppCoreError?>)
    /// Announces joins that were held back.
    case announceJoins([CoreEvent], Continue)
    case perform([ProgramMachine.Effect], Continue)
}

/// The circumstances of a command.
struct CommandContext {
    let client: DaemonClient
    /// The command's idempotency key. Requests to the core under the same key are performed once.
    let key: String?
    let nowMilliseconds: Int64
    /// Returns a random id.
    let newID: () -> String
}
