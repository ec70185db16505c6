import Nostr
import PikaCore

/// Commands that send to a group.
enum MessageCommands {
    /// A message that the core has enqueued.
    private struct Sent {
        let messageID: EventID
        let wrapper: EventID
    }

    /// Returns the first step of a command.
    static func begin(
        _ command: DaemonCommand, key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        switch command {
        case .sendMessage(let group, let content):
            let chatID = try machine.group(group).chatID
            return self.sendMessage(.sendMessage(chatID: chatID, .text(content)), key: key)
        case .sendHypernote(let group, let content, let title, let state):
            let chatID = try machine.group(group).chatID
            let note = Hypernote(content: content, title: title, state: state)
            return self.sendMessage(.sendHypernote(chatID: chatID, note), key: key)
        case .react(let group, let target, let emoji):
            let target = try CommandArguments.eventID(target)
            let emoji = emoji.trimmed
            guard !emoji.isEmpty else { throw DaemonFailure(.badEmoji, "emoji is required") }
            let chatID = try machine.group(group).chatID
            return self.sendAnnotation(
                .reactToMessage(chatID: chatID, messageID: target, emoji: emoji), key: key)
        case .submitHypernoteAction(let group, let target, let name, let form):
            let target = try CommandArguments.eventID(target)
            let name = name.trimmed
            guard !name.isEmpty else { throw DaemonFailure(.badAction, "action is required") }
            let chatID = try machine.group(group).chatID
            return self.sendAnnotation(
                .hypernoteAction(chatID: chatID, hypernote: target, action: name, form: form), key: key)
        case .sendMedia(let group, let file, let caption, let servers):
            return try self.sendMedia(group, [file], caption, servers, isBatch: false, key: key, &machine)
        case .sendMediaBatch(let group, let paths, let caption, let servers):
            let files = paths.map { DaemonCommand.File(path: $0, mimeType: nil, filename: nil) }
            return try self.sendMedia(group, files, caption, servers, isBatch: true, key: key, &machine)
        case .sendTyping(let group): return self.sendTyping(try machine.group(group).chatID)
        default: return .reply(CommandResult())
        }
    }

    /// Sends a message; the reply contains the inner event's id.
    private static func sendMessage(_ action: AppAction, key: String?) -> CommandStep {
        self.send(action, key: key, within: nil) {
            (machine: inout DaemonMachine, sent: Sent) throws(DaemonFailure) -> CommandStep in
            .reply(.sent(sent.messageID))
        }
    }

    /// Sends an event about a message; the reply contains the id of the kind 445 event.
    private static func sendAnnotation(_ action: AppAction, key: String?) -> CommandStep {
        self.send(action, key: key, within: nil) {
            (machine: inout DaemonMachine, sent: Sent) throws(DaemonFailure) -> CommandStep in
            .reply(.sent(sent.wrapper))
        }
    }

    /// Enqueues a message and waits until a relay has accepted it.
    private static func send(
        _ action: AppAction, key: String?, within milliseconds: Int64?, then next: @escaping CommandStep.Next<Sent>
    ) -> CommandStep {
        .request(action, key: key, within: milliseconds) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .queued(let messageID, let wrapper):
                return try machine.requireRelay(messageID) {
                    (machine: inout DaemonMachine) throws(DaemonFailure) -> CommandStep in
                    try next(&machine, Sent(messageID: messageID, wrapper: wrapper))
                }
            case .failed(let error): throw DaemonFailure.message(error)
            case nil: throw DaemonFailure(.publishFailed, "the core did not prepare the message in time")
            case .done, .partlyDone, .found:
                throw DaemonFailure(.publishFailed, "unexpected outbound publish result")
            }
        }
    }

    private static func sendTyping(_ chatID: ChatID) -> CommandStep {
        .request(.typingStarted(chatID: chatID), key: nil, within: nil) {
            (machine: inout DaemonMachine, outcome: ActionOutcome?) throws(DaemonFailure) -> CommandStep in
            switch outcome {
            case .failed(let error): throw DaemonFailure(.mdkError, error.message)
            case nil: throw DaemonFailure(.publishFailed, "no relay answered in time")
            case .done, .partlyDone, .found, .queued: return .reply(CommandResult(repliesToStandard: true))
            }
        }
    }

    // MARK: Files

    private static func sendMedia(
        _ reference: String, _ sources: [DaemonCommand.File], _ caption: String, _ servers: [String], isBatch: Bool,
        key: String?, _ machine: inout DaemonMachine
    ) throws(DaemonFailure) -> CommandStep {
        let chatID = try machine.group(reference).chatID
        try CommandArguments.files(sources)
        let servers = try CommandArguments.mediaServers(servers)
        return try self.readFiles(sources[...], after: [], &machine) {
            (machine: inout DaemonMachine, files: [OutgoingFile]) throws(DaemonFailure) -> CommandStep in
            let media = OutgoingMedia(files: files, caption: caption, servers: servers)
            return self.send(
                .sendMedia(chatID: chatID, media), key: key, within: machine.settings.mediaPatience
            ) { (machine: inout DaemonMachine, sent: Sent) throws(DaemonFailure) -> CommandStep in
                self.mediaReply(to: sent, in: chatID, isBatch: isBatch)
            }
        }
    }

    private static func readFiles(
        _ sources: ArraySlice<DaemonCommand.File>, after files: [OutgoingFile], _ machine: inout DaemonMachine,
        then next: @escaping CommandStep.Next<[OutgoingFile]>
    ) throws(DaemonFailure) -> CommandStep {
        guard let source = sources.first else { return try next(&machine, files) }
        return .readFile(path: source.path) {
            (machine: inout DaemonMachine, found: Result<[UInt8], RegularFile.Failure>) throws(DaemonFailure)
                -> CommandStep in
            switch found {
            case .success(let bytes):
                let file = try CommandArguments.file(source, bytes)
                return try self.readFiles(sources.dropFirst(), after: files + [file], &machine, then: next)
            case .failure(let failure): throw DaemonFailure(.fileError, "read \(source.path): \(failure)")
            }
        }
    }

    /// Searches the newest messages for the one that was just sent: it has the addresses of the files.
    private static func mediaReply(to sent: Sent, in chatID: ChatID, isBatch: Bool) -> CommandStep {
        .readMessages(chatID: chatID, limit: 200) {
            (machine: inout DaemonMachine, found: Result<[StoredMessage], any Error>) throws(DaemonFailure)
                -> CommandStep in
            let message = (try? found.get())?.first { $0.id == sent.messageID }
            return .reply(.media(message?.media ?? [], wrapper: sent.wrapper, isBatch: isBatch))
        }
    }
}
