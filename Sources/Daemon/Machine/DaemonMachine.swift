import Nostr
import PikaCore

/// The daemon's state, without input and output: the snapshot of the account and the values that hold the rules.
struct DaemonMachine: Sendable {
    private(set) var settings: DaemonSettings
    /// The current snapshot.
    private(set) var state = AppState()
    var clients: ClientSessions
    var log: EventLog
    var replies = ReplyLog()
    var requests: PendingRequests
    var deliveries = DeliveryResults()
    var memberships = MembershipChanges()
    var calls = CallProgress()
    var program: ProgramMachine

    init(_ settings: DaemonSettings) {
        self.settings = settings
        self.clients = ClientSessions(requiresToken: settings.requiresToken)
        self.log = EventLog(settings)
        self.requests = PendingRequests(scope: settings.scope)
        self.program = ProgramMachine(settings.program, keptEvents: settings.keptEvents)
    }

    // MARK: State

    /// Applies a snapshot; returns false if a newer one is known.
    mutating func receive(_ state: AppState) -> Bool {
        guard state.rev >= self.state.rev else { return false }
        self.state = state
        return true
    }

    /// Applies the configuration that the core has accepted.
    mutating func apply(_ configuration: CoreConfiguration) { self.settings.core = configuration }

    /// Pending invitations of peers that may invite this account.
    var admittedInvites: [AppState.InviteSummary] {
        self.state.invites.filter { self.settings.admits($0.inviter) }
    }

    /// Notes a pending invitation; returns false if it was announced before.
    mutating func announce(_ invite: AppState.InviteSummary) -> Bool {
        self.log.announce(invite.wrapper, pending: self.state.invites.map(\.wrapper))
    }

    mutating func receive(_ call: AppState.ActiveCall) -> [CallProgress.Effect] {
        self.calls.receive(call, isAllowed: self.settings.admits(call.peer))
    }

    // MARK: Lookups

    /// Returns the chat that a client's reference names, by ``AppState/chat(named:)``; nil if absent.
    func chat(_ reference: String) throws(DaemonFailure) -> AppState.ChatSummary? {
        do throws(AppCoreError) { return try self.state.chat(named: reference) } catch {
            throw DaemonFailure(.badGroupID, error.message)
        }
    }

    /// Returns a chat that this account is a member of.
    func group(_ reference: String) throws(DaemonFailure) -> DaemonGroup {
        guard let chat = try self.chat(reference), chat.isActive else {
            throw DaemonFailure(.badGroupID, "no group has the nostr_group_id \(reference)")
        }
        return DaemonGroup(chat)
    }

    /// Returns nil for an unknown reference and for an ambiguous one.
    func groupIfKnown(_ reference: String) -> DaemonGroup? { try? self.group(reference) }

    /// Returns whether this account has left the chat, which may still be readable.
    func hasLeft(_ chatID: String) -> Bool {
        self.state.chatList.contains { $0.chatID == chatID && $0.endReason == .left }
    }

    func nostrGroupID(of chatID: String) -> String { self.state.nostrGroupID(ofChat: chatID) }

    func leftUpdate(_ chatID: String) -> DaemonGroupUpdate {
        DaemonGroupUpdate(kind: .left, nostrGroupID: self.nostrGroupID(of: chatID))
    }

    func requireRelays() throws(DaemonFailure) {
        guard !self.settings.core.relays.isEmpty else { throw DaemonFailure(.badRelays, "no relays configured") }
    }

    /// Returns the call of this id, which has not ended.
    func liveCall(_ id: String) throws(DaemonFailure) -> AppState.ActiveCall {
        guard let call = self.state.activeCall, call.isLive else {
            throw DaemonFailure(.notFound, "active call not found")
        }
        guard call.callID == id else { throw DaemonFailure(.notFound, "active call id mismatch") }
        return call
    }

    /// Returns the call of this id, which rings and waits for this account's answer.
    func ringingCall(_ id: String) throws(DaemonFailure) -> AppState.ActiveCall {
        guard let call = self.state.activeCall, call.callID == id, call.phase == .ringing else {
            throw DaemonFailure(.notFound, "pending call invite not found")
        }
        return call
    }

    /// Returns an audio call that has not ended, and its audio track.
    func audioCall(_ id: String) throws(DaemonFailure) -> (call: AppState.ActiveCall, track: CallSession.Track) {
        let call = try self.liveCall(id)
        guard let track = call.audioTrack else {
            throw DaemonFailure(.badRequest, "active call is not an audio call")
        }
        return (call, track)
    }

    // MARK: Events

    /// Returns whether the sender is allowed, and whether clients get the message.
    func admits(_ message: MessageEvent, in chatID: String) -> (isAllowed: Bool, isReported: Bool) {
        guard self.settings.admits(message.sender) else { return (false, false) }
        // The group stays readable until another member commits the departure, but the client has already been sent
        // `left`.
        return (true, !message.isTyping && !self.hasLeft(chatID))
    }

    /// Records that a batch is stored; returns the sessions that get its events live.
    mutating func append(
        _ batch: EventLog.Batch, now: Int64
    ) -> (listeners: [ClientSessions.Session], effects: [ProgramMachine.Effect]) {
        var effects: [ProgramMachine.Effect] = []
        if batch.isNew { effects = self.program.recorded(after: self.log.append(batch), now: now) }
        return (self.clients.listeners(isNew: batch.isNew), effects)
    }
}

extension MessageEvent {
    /// Whether the message is a typing indicator, exactly as the apps send it (docs/protocol/marmot.md §8.2).
    fileprivate var isTyping: Bool {
        self.kind == .typing && self.content == "typing"
            && self.tags.contains { $0.values.starts(with: ["d", "pika"]) }
    }
}
