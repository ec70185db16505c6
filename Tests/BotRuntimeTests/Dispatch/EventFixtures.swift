import BotKit
import Nostr

@testable import PikaCore

/// The key whose hex form repeats this digit 64 times.
func key(_ digit: Character) -> PublicKey {
    guard let key = try? PublicKey(hex: String(repeating: digit, count: 64)) else {
        preconditionFailure("\(digit) is not a hexadecimal digit")
    }
    return key
}

/// The id that ends with this number in hex.
func eventID(_ number: Int) -> EventID {
    let digits = String(number, radix: 16)
    guard let id = try? EventID(hex: String(repeating: "0", count: 64 - digits.count) + digits) else {
        preconditionFailure("\(number) has no hexadecimal form")
    }
    return id
}

func messageEvent(
    _ content: String, id: Int = 1, from sender: PublicKey = key("b"), kind: Kind = .chatMessage, tags: [Tag] = [],
    role: MemberRole? = .member
) -> MessageEvent {
    MessageEvent(
        id: eventID(id), sender: sender, kind: kind, content: content, tags: tags, createdAt: 1_700_000_000, epoch: 3,
        role: role, wrapper: eventID(id + 0xa000))
}

func coreEvent(_ inboxID: Int64, chat: ChatID = "c1", _ content: CoreEvent.Content) -> CoreEvent {
    CoreEvent(inboxID: inboxID, chatID: chat, receivedAt: 1_700_000_000, content: content)
}

/// A message whose id is its inbox row.
func arrived(
    _ content: String, _ inboxID: Int64 = 1, chat: ChatID = "c1", from sender: PublicKey = key("b"),
    kind: Kind = .chatMessage, tags: [Tag] = [], role: MemberRole? = .member
) -> CoreEvent {
    let message = messageEvent(content, id: Int(inboxID), from: sender, kind: kind, tags: tags, role: role)
    return coreEvent(inboxID, chat: chat, .message(message))
}

func commitEvent(
    by committer: PublicKey = key("b"), isOwn: Bool = false, added: [PublicKey] = [], removed: [PublicKey] = [],
    name: (String, String) = ("lab", "lab"), description: Bool = false, adminsAdded: [PublicKey] = [],
    adminsRemoved: [PublicKey] = [], relays: Bool = false, removedSelf: Bool = false
) -> CommitEvent {
    CommitEvent(
        id: eventID(5), committer: committer, isOwn: isOwn, epochBefore: 3, epochAfter: 4, added: added,
        removed: removed, left: [], oldName: name.0, newName: name.1, newDescription: "",
        descriptionChanged: description, adminsAdded: adminsAdded, adminsRemoved: adminsRemoved, newRelays: [],
        relaysChanged: relays, disappearingSeconds: nil, disappearingChanged: false, rolledBack: false,
        removedSelf: removedSelf)
}

func callEvent(_ body: CallSignal.Body) -> CallEvent {
    let signal = CallSignal(callID: "call-1", timestampMilliseconds: 1_700_000_000_000, body: body)
    return CallEvent(id: eventID(6), sender: key("b"), signal: signal, epoch: 3)
}

let callInvite = CallSignal.Body.invite(
    CallSession(moqURL: "https://moq.example", broadcastBase: "pika/calls/call-1", tracks: [.audio]))

extension OutgoingMessage {
    /// The message as the dispatcher sends it.
    func marked(_ depth: Int) -> OutgoingMessage {
        OutgoingMessage(kind: kind, content: content, tags: tags + [Tag("pikabot-automated", String(depth))])
    }
}

func chatSummary(
    _ chatID: ChatID, isGroup: Bool, admins: [PublicKey] = [], routingIDs: [String] = []
) -> AppState.ChatSummary {
    AppState.ChatSummary(
        chatID: chatID, routingIDs: routingIDs, name: "lab", description: "", relays: [], isGroup: isGroup,
        members: admins.map { AppState.Member(publicKey: $0, isAdmin: true) }, isAdmin: false, epoch: 3, isActive: true,
        lastMessage: nil, lastMessageAt: nil, unreadCount: 0)
}

func scope(_ chatID: ChatID = "c1", name: String = "greeter", chats: [AppState.ChatSummary] = []) -> EventScope {
    var state = AppState()
    state.chatList = SharedArray(chats)
    return EventScope(chatID: chatID, account: key("a"), accountName: name, snapshot: state)
}

/// A bot with the given handlers, middleware and error handlers.
struct ListedBot: Bot {
    static let name = "listed"
    let handlers: [Handler]
    var middleware: [BotMiddleware] = []
    var errorHandlers: [BotErrorHandler] = []
    var help = BotHelp.command("help")

    init(settings: BotSettings) { handlers = [] }
    init(@HandlerBuilder _ handlers: () -> [Handler]) { self.handlers = handlers() }

    func with(
        middleware: [BotMiddleware] = [], errorHandlers: [BotErrorHandler] = [], help: BotHelp = .command("help")
    ) -> ListedBot {
        var bot = self
        bot.middleware = middleware
        bot.errorHandlers = errorHandlers
        bot.help = help
        return bot
    }
}

extension HandlerEffect {
    /// The effect as the dispatcher passes it on for a bot without an outcome handler.
    var counted: HandlerEffect {
        var effect = self
        effect.tracking = .counted
        return effect
    }
}
