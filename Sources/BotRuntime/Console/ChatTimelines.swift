import BotDispatch
import ConsoleReports
import Nostr
import PikaCore
import Synchronization

/// The recent commits of each chat, for the operator's console: who changed what, since the worker's start.
///
/// It is kept in memory only, and bounded: the chats with the newest moments are kept, each with its newest ones.
final class ChatTimelines: Sendable {
    static let maximumChats = 500

    private struct Timeline {
        var moments: [MomentReport] = []
        /// Rises with each use, to find the chat that was used longest ago.
        var use: UInt64 = 0
    }

    private struct State {
        var timelines: [ChatID: Timeline] = [:]
        var halts: [ChatID: String] = [:]
        var uses: UInt64 = 0

        mutating func add(_ moment: MomentReport, to chat: ChatID) {
            uses &+= 1
            var timeline = timelines.removeValue(forKey: chat) ?? Timeline()
            timeline.use = uses
            timeline.moments.append(moment)
            if timeline.moments.count > ReportLimits.commits { timeline.moments.removeFirst() }
            timelines[chat] = timeline
            guard timelines.count > ChatTimelines.maximumChats,
                let oldest = timelines.min(by: { $0.value.use < $1.value.use })
            else { return }
            timelines[oldest.key] = nil
        }
    }

    private let state = Mutex(State())

    /// The moments of a chat, oldest first.
    subscript(chat: ChatID) -> [MomentReport] { state.withLock { $0.timelines[chat]?.moments ?? [] } }

    var chatCount: Int { state.withLock { $0.timelines.count } }

    func observe(_ observation: BotDispatcher.Observation) {
        guard case .received(let event) = observation, let moment = MomentReport(event) else { return }
        state.withLock { $0.add(moment, to: event.chatID) }
    }

    /// Records the chats whose history became undecidable, or could be followed again, since the last call.
    func note(_ chats: some Sequence<AppState.ChatSummary>, now: UnixTime) {
        var halts: [ChatID: String] = [:]
        for chat in chats {
            if let halt = chat.convergence?.haltText { halts[chat.chatID] = halt }
        }
        state.withLock { [halts] state in
            for (chat, text) in halts where state.halts[chat] != text {
                state.add(MomentReport(at: now, divergence: text), to: chat)
            }
            for chat in state.halts.keys where halts[chat] == nil {
                state.add(MomentReport(at: now, divergence: "the history can be followed again"), to: chat)
            }
            state.halts = halts
        }
    }
}

extension ChatConvergence {
    /// The state in words if the account cannot follow the history; nil otherwise.
    var haltText: String? {
        switch self {
        case .blocked(let reason): "blocked: \(reason)"
        case .unrecoverable(let reason): "unrecoverable: \(reason)"
        case .settled, .syncing, .resolving, .disbanded: nil
        }
    }

    /// The state in words unless nothing is undecided.
    var undecidedText: String? {
        switch self {
        case .syncing: "collecting commits"
        case .resolving: "choosing a branch"
        case .blocked, .unrecoverable: haltText
        case .disbanded: "disbanded"
        case .settled: nil
        }
    }
}

extension MomentReport {
    fileprivate init(at time: UnixTime, divergence text: String) {
        self.init(at: time.seconds, kind: .divergence)
        changes = [text.limited(to: ReportLimits.sentence)]
    }

    /// Creates the moment of an event; nil for events that change no history.
    fileprivate init?(_ event: CoreEvent) {
        let at = event.receivedAt.seconds
        switch event.content {
        case .commit(let commit):
            self.init(at: at, kind: .commit)
            actor = commit.committer.npub
            epoch = commit.epochAfter
            isRollback = commit.rolledBack
            changes = commit.changeTexts
        case .joined(let join):
            self.init(at: at, kind: .joined)
            actor = join.inviter.npub
            epoch = join.epoch
        case .withdrawn(let withdrawn):
            self.init(at: at, kind: withdrawn.isRestored ? .restored : .withdrawn)
            actor = withdrawn.sender.npub
            epoch = withdrawn.epoch
        case .message, .proposal, .call, .outcome, .feed: return nil
        }
    }
}

extension CommitEvent {
    /// The changes of the commit in words; empty for one that only renews keys.
    fileprivate var changeTexts: [String] {
        func names(_ keys: [PublicKey]) -> String {
            let shown = keys.prefix(8).map { String($0.npub.prefix(12)) }.joined(separator: ", ")
            return keys.count > 8 ? "\(shown) and \(keys.count - 8) more" : shown
        }
        let removals = removed.filter { !left.contains($0) }
        var texts: [String] = []
        if !added.isEmpty { texts.append("added \(names(added))") }
        if !removals.isEmpty { texts.append("removed \(names(removals))") }
        if !left.isEmpty { texts.append("let \(names(left)) leave") }
        if removedSelf { texts.append("this account is no longer a member") }
        if isRename { texts.append("renamed the group to \(newName.limited(to: ReportLimits.name))") }
        if descriptionChanged { texts.append("changed the description") }
        if !adminsAdded.isEmpty { texts.append("made \(names(adminsAdded)) admin") }
        if !adminsRemoved.isEmpty { texts.append("took the admin role from \(names(adminsRemoved))") }
        if relaysChanged { texts.append("changed the relays") }
        if disappearingChanged {
            texts.append(
                disappearingSeconds.map { "set messages to disappear after \($0) s" } ?? "keeps messages again")
        }
        return texts
    }
}
