import CallMedia
import Daemon
import MLS
import Nostr
import Synchronization

@testable import PikaCore

/// An account's core in memory: changes are durable at once, and sent messages can be awaited.
final class FakeAccount: DaemonCore {
    struct Sent: Sendable, Hashable {
        let chatID: ChatID
        let text: String
    }

    private struct Content {
        var state = AppState()
        var values: [String: [UInt8]] = [:]
        var messages: [ChatID: [StoredMessage]] = [:]
        var done: [String: ActionOutcome] = [:]
        var sent: [Sent] = []
        var reported: [ActionID] = []
        var count = 0
        var readers: [AsyncStream<AppUpdate>.Continuation] = []
    }

    static let group = ChatID(rawValue: String(repeating: "aa", count: 32))
    static let otherGroup = ChatID(rawValue: String(repeating: "bb", count: 32))
    static let direct = ChatID(rawValue: String(repeating: "cc", count: 32))

    let account: PublicKey
    let peer: PublicKey
    let events: AsyncStream<CoreEvent>
    private let sends: AsyncStream<Sent>
    private let noteSent: AsyncStream<Sent>.Continuation
    private let content: Mutex<Content>

    init() {
        var generator = SystemRandomNumberGenerator()
        account = KeyPair.generate(using: &generator).publicKey
        peer = KeyPair.generate(using: &generator).publicKey
        (events, _) = AsyncStream.makeStream()
        (sends, noteSent) = AsyncStream.makeStream()
        var content = Content()
        content.state.chatList = [
            Self.chat(Self.group, isGroup: true), Self.chat(Self.otherGroup, isGroup: true),
            Self.chat(Self.direct, isGroup: false),
        ]
        self.content = Mutex(content)
    }

    private static func chat(_ id: ChatID, isGroup: Bool) -> AppState.ChatSummary {
        AppState.ChatSummary(
            chatID: id, routingIDs: [id.rawValue], name: "", description: "", relays: [], isGroup: isGroup, members: [],
            isAdmin: false, epoch: 1, isActive: true, lastMessage: nil, lastMessageAt: nil, lastMessageExpiresAt: nil,
            unreadCount: 0, imageHash: nil)
    }

    // MARK: For tests

    /// All sent messages, in order.
    var sent: [Sent] { content.withLock { $0.sent } }

    /// The actions whose outcomes the program wants, in order.
    var reported: [ActionID] { content.withLock { $0.reported } }

    /// Returns the next sent message that has not been returned yet.
    func nextSent() async -> String {
        for await sent in sends { return sent.text }
        return "nothing"
    }

    /// A message of the peer, stored and ready for delivery.
    func message(_ text: String, in chatID: ChatID = FakeAccount.group) throws -> CoreEvent {
        let number = content.withLock { content in
            content.count += 1
            return content.count
        }
        let rumor = UnsignedEvent(
            pubkey: peer, createdAt: 1_800_000_000 + Int64(number), kind: .chatMessage, tags: [], content: text)
        let id = try EventID(
            bytes: [UInt8](repeating: UInt8(truncatingIfNeeded: number >> 8), count: 16)
                + [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16))
        let stored = StoredMessage(groupID: [0], rumor: rumor, id: id, wrapper: id, epoch: 1, isOwn: false)
        content.withLock { $0.messages[chatID, default: []].insert(stored, at: 0) }
        return CoreEvent(
            inboxID: Int64(number), chatID: chatID, receivedAt: rumor.createdAt,
            content: .message(
                MessageEvent(
                    id: id, sender: peer, kind: .chatMessage, content: text, tags: [], createdAt: rumor.createdAt,
                    epoch: 1)))
    }

    /// The outcome of an action of the program; of one without a chat if that is empty.
    func outcome(_ action: ActionID, _ result: ActionResult, in chatID: ChatID) -> CoreEvent {
        let number = content.withLock { content in
            content.count += 1
            return content.count
        }
        return CoreEvent(
            inboxID: Int64(number), chatID: chatID, receivedAt: 1_800_000_000,
            content: .outcome(OutcomeEvent(action: action, kind: "send_message", result: result)))
    }

    /// A call of the peer that is already in the account's state.
    func call(_ id: String, in chatID: ChatID) throws -> CoreEvent {
        let session = CallSession(moqURL: "https://moq.example", broadcastBase: "pika/calls", tracks: [.audio])
        let (number, state, readers) = content.withLock { content in
            content.count += 1
            content.state.rev += 1
            content.state.activeCall = AppState.ActiveCall(
                callID: id, chatID: chatID, peer: peer, isOutgoing: false, phase: .ringing, isVideo: false,
                isMuted: false, isCameraOn: false, startedAt: 1_800_000_000, connectedAt: nil, tracks: session.tracks,
                statistics: CallStatistics())
            return (content.count, content.state, content.readers)
        }
        for reader in readers { reader.yield(.fullState(state)) }
        let signal = CallSignal(callID: id, timestampMilliseconds: 1_800_000_000_000, body: .invite(session))
        let eventID = try EventID(bytes: [UInt8](repeating: 0xCA, count: 32))
        return CoreEvent(
            inboxID: Int64(number), chatID: chatID, receivedAt: 1_800_000_000,
            content: .call(CallEvent(id: eventID, sender: peer, signal: signal, epoch: 1)))
    }

    // MARK: DaemonCore

    var newestInboxID: Int64 { Int64(content.withLock { $0.count }) }
    var state: AppState { content.withLock { $0.state } }

    func shown(_ state: AppState) -> AppState { state }
    func complete(_ inboxID: Int64, effects: [HandlerEffect]) {}

    func dispatch(_ action: AppAction, request: RequestID, reportedAs id: ActionID) {
        content.withLock { $0.reported.append(id) }
        dispatch(action, request: request)
    }

    func dispatch(_ action: AppAction, request: RequestID?) {
        guard let request else { return }
        let (outcome, sent) = content.withLock { content -> (ActionOutcome, Sent?) in
            if request.onceKey != nil, let known = content.done[request.rawValue] { return (known, nil) }
            guard case .sendMessage(let chatID, let message) = action,
                let id = try? EventID(bytes: [UInt8](repeating: 0xEE, count: 31) + [UInt8(content.sent.count % 256)])
            else { return (.done(chatID: nil), nil) }
            let sent = Sent(chatID: chatID, text: message.content)
            content.sent.append(sent)
            content.done[request.rawValue] = .queued(messageID: id, wrapper: id)
            return (.queued(messageID: id, wrapper: id), sent)
        }
        if let sent { noteSent.yield(sent) }
        finish(request, outcome)
    }

    func perform(_ effects: [HandlerEffect], request: RequestID) {
        content.withLock { content in
            for case .putValue(let scope, let key, let value) in effects.map(\.operation) {
                content.values["\(scope) \(key)"] = value
            }
        }
        finish(request, .done(chatID: nil))
    }

    private func finish(_ request: RequestID, _ outcome: ActionOutcome) {
        let readers = content.withLock { $0.readers }
        for reader in readers { reader.yield(.finished(rev: 1, request: request, outcome: outcome)) }
    }

    func updates() -> AsyncStream<AppUpdate> {
        let (updates, reader) = AsyncStream.makeStream(of: AppUpdate.self)
        content.withLock { content in
            reader.yield(.fullState(content.state))
            content.readers.append(reader)
        }
        return updates
    }

    func value(scope: String, key: String) async throws -> [UInt8]? {
        content.withLock { $0.values["\(scope) \(key)"] }
    }

    func messages(chatID: ChatID, before: StoredMessage.Position?, limit: Int) async throws -> [StoredMessage] {
        content.withLock { content in
            let all = (content.messages[chatID] ?? []).sorted { $0.position > $1.position }
            return Array(all.filter { message in before.map { message.position < $0 } ?? true }.prefix(limit))
        }
    }

    func media(chatID: ChatID, messageID: EventID, index: Int) async throws -> [UInt8] { [] }
    func groupProfiles(chatID: ChatID) async throws -> [AppState.Profile] { [] }
    func callSession(callID: String) async -> CallSession? { nil }
    func callMedia(callID: String) -> CallMediaSession? { nil }
}
