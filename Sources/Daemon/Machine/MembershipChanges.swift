import Nostr
import PikaCore

/// Changes of memberships that commands make, so that each change is reported once. Pure.
struct MembershipChanges: Sendable {
    /// Whether an invitation is being accepted. Joins in the meantime are announced after the reply.
    private var isAccepting = false
    private var heldJoins: [CoreEvent] = []
    /// Joins that the running command announces itself.
    private var commandJoins: [CoreEvent] = []
    /// Chats that a command is changing: the command reports the change itself.
    private var changing: Set<ChatID> = []
    /// Chats that a command has left.
    private var departed: Set<ChatID> = []
    /// Invitations that were accepted automatically in this run.
    private var autoAccepted: Set<EventID> = []

    // MARK: Joins

    /// Holds joins back from now on.
    mutating func beginAccepting() { self.isAccepting = true }

    /// Receives a join; returns false if it is to be announced now.
    mutating func hold(_ join: CoreEvent) -> Bool {
        if self.isAccepting { self.heldJoins.append(join) }
        return self.isAccepting
    }

    /// Returns the held joins, which are to be announced now, except those of the chat that the command announces
    /// itself.
    mutating func endAccepting(announcing chatID: ChatID?) -> [CoreEvent] {
        let joins = self.heldJoins
        self.heldJoins = []
        self.isAccepting = false
        self.commandJoins += joins.filter { $0.chatID == chatID }
        return joins.filter { $0.chatID != chatID }
    }

    /// Whether the running command has announced joins that are not completed yet.
    var hasCommandJoins: Bool { !self.commandJoins.isEmpty }

    /// Returns the joins that the command has announced; they are handled now.
    mutating func completeCommandJoins() -> [CoreEvent] {
        defer { self.commandJoins = [] }
        return self.commandJoins
    }

    /// Returns whether the invitation is to be accepted automatically: once per run.
    mutating func shouldAutoAccept(_ invitation: EventID) -> Bool { self.autoAccepted.insert(invitation).inserted }

    // MARK: Changes

    mutating func beginChange(of chatID: ChatID) { self.changing.insert(chatID) }

    mutating func endChange(of chatID: ChatID) { self.changing.remove(chatID) }

    mutating func beginLeaving(_ chatID: ChatID) { self.departed.insert(chatID) }

    mutating func cancelLeaving(_ chatID: ChatID) { self.departed.remove(chatID) }

    /// Receives a commit; returns the change to report, nil for none.
    mutating func receive(_ commit: CommitEvent, in chatID: ChatID) -> DaemonGroupUpdate.Kind? {
        if commit.removedSelf { return self.departed.remove(chatID) == nil ? .left : nil }
        if commit.isOwn, self.changing.contains(chatID) { return nil }
        if commit.added.isEmpty, commit.removed.isEmpty { return nil }
        return commit.added.count >= commit.removed.count ? .membersAdded : .membersRemoved
    }
}
