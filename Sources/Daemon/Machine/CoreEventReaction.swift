import Nostr
import PikaCore

/// The reaction to an event of the core, which is completed once the reaction is performed.
enum CoreEventReaction: Sendable {
    case announce([DaemonEvent])
    /// Announces the message with its attachments, and the change of the profile if it sets one.
    case announceMessage(MessageEvent)
    /// Announces the change with the group's profile, and these events.
    case announceUpdate(DaemonGroupUpdate.Kind, [DaemonEvent])
    /// The sender is not allowed.
    case dropMessage
    /// Announces nothing: clients learn of a call signal from the state changes that it causes. With a program, the
    /// refreshed state tells at once whether the call is for the program.
    case receiveCall(refreshesState: Bool)
    /// A command announces the event after its reply.
    case hold
}

extension DaemonMachine {
    /// Decides on an event of the core.
    mutating func receive(_ event: CoreEvent) -> CoreEventReaction {
        switch event.content {
        case .message(let message):
            guard self.settings.admits(message.sender) else { return .dropMessage }
            // The group stays readable until another member commits the departure, but the client has already been
            // sent `left`.
            return message.isTyping || self.hasLeft(event.chatID) ? .announce([]) : .announceMessage(message)
        case .commit(let commit):
            let group = self.nostrGroupID(of: event.chatID)
            let changes = self.hasLeft(event.chatID) ? [] : DaemonGroupChange.all(in: commit, of: group)
            switch self.memberships.receive(commit, in: event.chatID) {
            case nil: return .announce(changes.map(DaemonEvent.groupChanged))
            case .left: return .announce([.groupUpdated(self.leftUpdate(event.chatID))])
            case let kind?: return .announceUpdate(kind, changes.map(DaemonEvent.groupChanged))
            }
        case .proposal(let proposal):
            guard !self.hasLeft(event.chatID) else { return .announce([]) }
            let group = self.nostrGroupID(of: event.chatID)
            return .announce([.proposalReceived(DaemonProposal(proposal, in: group))])
        case .call: return .receiveCall(refreshesState: self.settings.program != nil)
        case .withdrawn(let withdrawn):
            // As for the message itself.
            guard self.settings.admits(withdrawn.sender), withdrawn.kind != .typing, !self.hasLeft(event.chatID) else {
                return .announce([])
            }
            let group = self.nostrGroupID(of: event.chatID)
            return .announce([.withdrawn(DaemonWithdrawal(withdrawn, in: group))])
        case .outcome(let outcome):
            // That of another bot, from a time when one ran this account.
            guard outcome.action.bot == self.settings.name else { return .announce([]) }
            return .announce([.outcome(self.outcome(outcome, of: event.chatID))])
        case .feed(let item): return .announce([.feedItem(DaemonFeedItem(item, receivedAt: event.receivedAt))])
        case .joined: return self.memberships.hold(event) ? .hold : .announce(self.joinEvents(event))
        }
    }

    /// Returns the event for a group that this account has joined; empty if it is no longer a member.
    func joinEvents(_ join: CoreEvent) -> [DaemonEvent] {
        self.groupIfKnown(join.chatID).map { [.groupJoined($0)] } ?? []
    }

    private func outcome(_ outcome: OutcomeEvent, of chatID: ChatID) -> DaemonOutcome {
        chatID.rawValue.isEmpty
            ? DaemonOutcome(outcome, chatID: nil, nostrGroupID: nil)
            : DaemonOutcome(outcome, chatID: chatID, nostrGroupID: self.nostrGroupID(of: chatID))
    }

    /// Returns the event for a message that another member has sent.
    func event(for message: MessageEvent, in chatID: ChatID, _ media: [DaemonMessage.Attachment]) -> DaemonEvent {
        .messageReceived(
            DaemonMessage(
                chatID: chatID, nostrGroupID: self.nostrGroupID(of: chatID), id: message.id, sender: message.sender,
                kind: message.kind, content: message.content, createdAt: message.createdAt, media: media,
                tags: message.tags))
    }

    /// Returns the event for a stored message, as it was sent before.
    func event(
        for message: StoredMessage, createdAt: UnixTime, in chatID: ChatID, _ media: [DaemonMessage.Attachment]
    ) -> DaemonEvent {
        .messageReceived(
            DaemonMessage(
                chatID: chatID, nostrGroupID: self.nostrGroupID(of: chatID), id: message.id,
                sender: message.rumor.pubkey, kind: message.rumor.kind, content: message.rumor.content,
                createdAt: createdAt, media: media, tags: message.rumor.tags))
    }

    /// Returns the event for a change of a group.
    ///
    /// - Parameter profiles: those that members have set in the group, newest first.
    func update(
        _ kind: DaemonGroupUpdate.Kind, of group: DaemonGroup, _ profiles: [AppState.Profile]
    ) -> DaemonEvent {
        .groupUpdated(
            DaemonGroupUpdate(
                kind: kind, nostrGroupID: group.nostrGroupID, group: group,
                profile: group.profile(among: profiles, account: self.account)))
    }
}

extension MessageEvent {
    /// Whether the message is a typing indicator, exactly as the apps send it (docs/protocol/marmot.md §8.2).
    fileprivate var isTyping: Bool {
        self.kind == .typing && self.content == "typing"
            && self.tags.contains { $0.values.starts(with: ["d", "pika"]) }
    }
}
