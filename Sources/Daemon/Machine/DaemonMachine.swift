import Nostr
import PikaCore

/// The daemon's state, without input and output: the snapshot of the account and the values that hold the rules.
struct DaemonMachine: Sendable {
    let account: PublicKey
    private(set) var settings: DaemonSettings
    /// The current snapshot.
    private(set) var state = AppState()
    var clients: ClientSessions
    var log: EventLog
    var replies = ReplyLog()
    var memberships = MembershipChanges()
    var calls = CallProgress()
    var accounts = AccountProgress()
    var program: ProgramMachine
    /// Whether the end of the standard client is known. A program has no such client beside it: its events are handled
    /// once they are recorded.
    private var hasLostStandard: Bool

    init(_ settings: DaemonSettings, account: PublicKey) {
        self.account = account
        self.settings = settings
        self.clients = ClientSessions(requiresToken: settings.requiresToken)
        self.log = EventLog(settings)
        self.program = ProgramMachine(settings.program, keptEvents: settings.keptEvents)
        self.hasLostStandard = settings.program != nil
    }

    /// Notes that the standard client is gone; returns false if that was known.
    mutating func loseStandard() -> Bool {
        defer { self.hasLostStandard = true }
        return !self.hasLostStandard
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

    /// The configured relays, each with the reason why it is not connected.
    var unconnectedRelays: [(relay: RelayURL, reason: String)] {
        self.settings.core.relays.map { relay in
            let status = self.state.relays.first { $0.url == relay }
            let reason = if case .retrying(_, let reason)? = status?.connection { reason } else { "no connection yet" }
            return (relay, reason)
        }
    }

    // MARK: Lookups

    /// Returns the chat that a client's reference names, by ``AppState/chat(named:)``; nil if absent.
    func chat(_ reference: String) throws(DaemonFailure) -> AppState.ChatSummary? {
        do throws(AppCoreError) { return try self.state.chat(named: reference) } catch {
            throw DaemonFailure(.badGroupID, error.message)
        }
    }

    /// Returns the chat that a client's reference names, if this account is a member.
    func group(_ reference: String) throws(DaemonFailure) -> DaemonGroup {
        DaemonGroup(try self.activeChat(reference))
    }

    /// Returns the chat that a client's reference names, if this account is a member.
    func activeChat(_ reference: String) throws(DaemonFailure) -> AppState.ChatSummary {
        guard let chat = try self.chat(reference), chat.isActive else {
            throw DaemonFailure(.badGroupID, "no group has the nostr_group_id \(reference)")
        }
        return chat
    }

    /// Returns the id of a chat that lists contain: this account can also leave a group that it cannot follow any more.
    func listedChat(_ reference: String) throws(DaemonFailure) -> ChatID {
        guard let chat = try self.chat(reference), chat.isListed else {
            throw DaemonFailure(.badGroupID, "no group has the nostr_group_id \(reference)")
        }
        return chat.chatID
    }

    /// Returns a chat that this account is a member of.
    func group(_ chatID: ChatID) throws(DaemonFailure) -> DaemonGroup { try self.group(chatID.rawValue) }

    /// Returns nil for an unknown reference and for an ambiguous one.
    func groupIfKnown(_ reference: String) -> DaemonGroup? { try? self.group(reference) }

    func groupIfKnown(_ chatID: ChatID) -> DaemonGroup? { try? self.group(chatID) }

    /// Returns whether this account has left the chat, which may still be readable.
    func hasLeft(_ chatID: ChatID) -> Bool {
        self.state.chatList.contains { $0.chatID == chatID && $0.endReason == .left }
    }

    func nostrGroupID(of chatID: ChatID) -> String { self.state.nostrGroupID(ofChat: chatID) }

    func leftUpdate(_ chatID: ChatID) -> DaemonGroupUpdate {
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

    /// Records that a batch is stored; returns the sessions that get its events live.
    mutating func append(
        _ batch: EventLog.Batch, now: Int64
    ) -> (listeners: [ClientSessions.Session], effects: [ProgramMachine.Effect]) {
        var effects: [ProgramMachine.Effect] = []
        if batch.isNew { effects = self.program.recorded(after: self.log.append(batch), now: now) }
        return (self.clients.listeners(isNew: batch.isNew), effects)
    }
}
