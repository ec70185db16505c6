import Marmot
import Nostr

/// An answer to a hypernote, with its position among its sender's answers.
struct PlacedResponse: Sendable, Hashable {
    let position: StoredMessage.Position
    let response: AppState.HypernoteResponse
}

/// Hypernotes of the open chat and the answers to them (docs/protocol/marmot.md §8.4).
extension CoreModel {
    /// Whether messages of this kind are shown as their own entry, and count as unread.
    static func isShown(_ kind: Kind) -> Bool { kind == .chatMessage || kind == .hypernote }

    /// The maximum length of a preview in Unicode scalars: every snapshot and each chat's record contain one.
    static let maximumPreview = 200

    /// Returns the preview of a message for the list of chats.
    static func preview(of rumor: UnsignedEvent) -> String {
        let text = self.fullPreview(of: rumor)
        // No text has more scalars than bytes.
        guard text.utf8.count > self.maximumPreview else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(self.maximumPreview)))
    }

    private static func fullPreview(of rumor: UnsignedEvent) -> String {
        guard let hypernote = Hypernote(kind: rumor.kind, content: rumor.content, tags: rumor.tags) else {
            return rumor.content
        }
        if let title = hypernote.title, !title.trimmingBlanks.isEmpty { return title }
        return HypernoteDocument(hypernote.content).plainText
    }

    /// Returns the hypernote in a message, with the answers known so far; nil for other messages.
    func hypernoteView(of message: StoredMessage) -> AppState.HypernoteView? {
        let rumor = message.rumor
        guard let hypernote = Hypernote(kind: rumor.kind, content: rumor.content, tags: rumor.tags) else { return nil }
        let view = AppState.HypernoteView(
            title: hypernote.title, document: HypernoteDocument(hypernote.content),
            initialForm: hypernote.initialForm)
        return self.answered(view, message.id)
    }

    /// Applies an answer. Answers may arrive in any order; each member's latest one counts.
    mutating func receiveHypernoteResponse(_ message: StoredMessage, to target: EventID?) {
        guard let target, let answer = HypernoteAction(content: message.rumor.content) else { return }
        let response = AppState.HypernoteResponse(
            sender: message.rumor.pubkey, action: answer.action, form: answer.form,
            createdAt: message.rumor.createdAt)
        let placed = PlacedResponse(position: message.position, response: response)
        guard self.chats.open?.add(placed, to: target) == true else { return }
        guard let place = self.shownPosition(of: target),
            let view = self.state.currentChat?.messages[place].hypernote
        else { return }
        let answered = self.answered(view, target)
        self.state.currentChat?.messages[place].hypernote = answered
    }

    /// Adds the answers to a hypernote. Answers that name none of its buttons are ignored; without buttons every answer
    /// counts.
    private func answered(_ view: AppState.HypernoteView, _ id: EventID) -> AppState.HypernoteView {
        guard let answers = self.chats.open?.responses[id] else { return view }
        let actions = Set(view.document.actions)
        let counted = answers.values.filter { actions.isEmpty || actions.contains($0.response.action) }
        var view = view
        view.responses = counted.sorted { $0.position < $1.position }.map(\.response)
        view.ownResponse = view.responses.first { $0.sender == self.account.publicKey }
        return view
    }
}
