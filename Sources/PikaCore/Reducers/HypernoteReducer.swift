import Marmot
import Nostr

/// An answer to a hypernote and where it stands among the others of its sender.
struct PlacedResponse: Sendable, Hashable {
    let position: StoredMessage.Position
    let response: AppState.HypernoteResponse
}

/// Hypernotes of the open chat and the answers to them (wire §8.0).
extension CoreModel {
    /// Hypernotes of which answers are kept, with those that are not shown yet; beyond that many new ones are dropped.
    static let maximumAnswered = 2000

    /// Whether messages of this kind have a line of their own, and count as unread.
    static func isShown(_ kind: Kind) -> Bool { kind == .chatMessage || kind == .hypernote }

    /// Scalars of a message that the list of chats shows: every snapshot and a record of each chat hold it.
    static let maximumPreview = 200

    /// What the list of chats shows of a message.
    static func preview(of rumor: UnsignedEvent) -> String {
        String(String.UnicodeScalarView(self.wholePreview(of: rumor).unicodeScalars.prefix(self.maximumPreview)))
    }

    private static func wholePreview(of rumor: UnsignedEvent) -> String {
        guard let hypernote = Hypernote(kind: rumor.kind, content: rumor.content, tags: rumor.tags) else {
            return rumor.content
        }
        if let title = hypernote.title, !title.trimmingBlanks.isEmpty { return title }
        return HypernoteDocument(hypernote.content).plainText
    }

    /// The hypernote that a message is, with the answers known so far.
    func hypernoteView(of message: StoredMessage) -> AppState.HypernoteView? {
        let rumor = message.rumor
        guard let hypernote = Hypernote(kind: rumor.kind, content: rumor.content, tags: rumor.tags) else { return nil }
        let view = AppState.HypernoteView(
            title: hypernote.title, document: HypernoteDocument(hypernote.content),
            initialForm: hypernote.initialForm)
        return self.answered(view, message.id)
    }

    /// An answer, in whatever order they come: of each member the latest counts.
    mutating func takeHypernoteResponse(_ message: StoredMessage, to target: EventID?) {
        guard let target, let answer = HypernoteAction(content: message.rumor.content) else { return }
        guard self.hypernoteResponses[target] != nil || self.hypernoteResponses.count < Self.maximumAnswered else {
            return
        }
        let known = self.hypernoteResponses[target]?[message.rumor.pubkey]
        guard known.map({ $0.position < message.position }) ?? true else { return }
        let response = AppState.HypernoteResponse(
            sender: message.rumor.pubkey, action: answer.action, form: answer.form,
            createdAt: message.rumor.createdAt)
        self.hypernoteResponses[target, default: [:]][message.rumor.pubkey] = PlacedResponse(
            position: message.position, response: response)
        guard let place = self.shownPosition(of: target),
            let view = self.state.currentChat?.messages[place].hypernote
        else { return }
        let answered = self.answered(view, target)
        self.state.currentChat?.messages[place].hypernote = answered
    }

    /// Answers that name none of the buttons count as none; without any button every answer counts.
    private func answered(_ view: AppState.HypernoteView, _ id: EventID) -> AppState.HypernoteView {
        guard let answers = self.hypernoteResponses[id] else { return view }
        let actions = Set(view.document.actions)
        let counted = answers.values.filter { actions.isEmpty || actions.contains($0.response.action) }
        var view = view
        view.responses = counted.sorted { $0.position < $1.position }.map(\.response)
        view.ownResponse = view.responses.first { $0.sender == self.account.publicKey }
        return view
    }
}
