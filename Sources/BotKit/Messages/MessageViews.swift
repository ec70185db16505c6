import Marmot

/// A replacement of a message's text (kind 1009).
///
/// Of several edits the one with the newest `createdAt` counts. Only the author of a message may edit it: compare the
/// edit's sender with the author of the message that the bot knows under ``target``.
public struct MessageEdit: Sendable, Hashable {
    /// The edited message.
    public let target: EventID
    /// The new text, not blank.
    public let text: String
    /// The accounts that the text mentions.
    public let mentions: [PublicKey]

    /// Reads an edit; nil for other messages and for malformed ones.
    public init?(_ message: MessageEvent) {
        guard message.kind == .edit, case .edit(let text, let target, let mentions)? = message.appContent else {
            return nil
        }
        self.target = target
        self.text = text
        self.mentions = mentions
    }
}

/// A deletion of messages or reactions by their author (kind 5), or of a chat message by an admin (kind 4891).
public struct MessageDeletion: Sendable, Hashable {
    /// The messages and reactions to delete, at least one. Of an author's deletion only those of the same author count:
    /// compare its sender with the authors that the bot knows.
    public let targets: [EventID]
    /// Whether an admin deletes another member's message with all of its edits.
    public let isByAdmin: Bool

    /// Reads a deletion; nil for other messages, for malformed ones, and for an admin's deletion unless its author was
    /// an admin in its own epoch.
    public init?(_ message: MessageEvent) {
        guard message.kind == .deletion || message.kind == .adminDeletion else { return nil }
        switch message.appContent {
        case .deletion(let targets)?:
            self.targets = targets
            isByAdmin = false
        case .adminDeletion(let target)? where message.role == .admin:
            targets = [target]
            isByAdmin = true
        default: return nil
        }
    }
}

/// A report of a message to the group's admins (kind 1984).
public struct ReportedMessage: Sendable, Hashable {
    /// The reported message.
    public let message: EventID
    /// The message's author, as stated by the reporter.
    public let author: PublicKey
    /// The reason by NIP-56, such as `spam` or `illegal`.
    public let reason: String
    /// The reported edit; nil for the original text.
    public let revision: EventID?
    /// The reporter's words; may be empty.
    public let text: String

    /// Reads a report; nil for other messages and for malformed ones.
    public init?(_ message: MessageEvent) {
        guard message.kind == .report, case .report(let report)? = message.appContent else { return nil }
        self.message = report.message
        author = report.author
        reason = report.reason
        revision = report.revision
        text = report.text
    }
}

/// An admin's dismissal of reports (kind 1985).
public struct ReportDismissal: Sendable, Hashable {
    /// The ids of the dismissed reports, 1 to 100.
    public let reports: [EventID]

    /// Reads a dismissal; nil for other messages, for malformed ones, and unless the author was an admin in its own
    /// epoch.
    public init?(_ message: MessageEvent) {
        guard message.kind == .reportDismissal, message.role == .admin,
            case .dismissal(let reports)? = message.appContent
        else { return nil }
        self.reports = reports
    }
}

/// The beginning (kind 1200) or the end (kind 9) of a text that an agent streams outside the group.
///
/// Streams themselves are not received. A beginning may stay without an end. The end carries the complete text as an ordinary chat message.
public struct AgentStream: Sendable, Hashable {
    /// The stream's id, as stated.
    public let id: String
    /// Whether the message has the complete text.
    public let isComplete: Bool

    /// Reads the beginning or end of a stream; nil for other messages.
    public init?(_ message: MessageEvent) {
        guard message.kind == .agentStreamStart || message.kind == .chatMessage,
            let id = message.tags.first(named: "stream")?.value
        else { return nil }
        self.id = id
        isComplete = message.kind == .chatMessage
    }
}

extension MessageEvent {
    /// The message's meaning by its kind; nil if it is malformed.
    fileprivate var appContent: AppContent? {
        try? AppContent(
            UnsignedEvent(pubkey: sender, createdAt: createdAt, kind: kind, tags: tags, content: content))
    }
}
