import ConsolePages
import Logging

/// Requests that need the role `operate`.
extension ConsoleResponder {
    /// Characters of a bot's name or an invitation's id in a form.
    private static let longestField = 200

    /// The page that asks before an action.
    func ask(
        _ name: String, _ query: FormFields, _ visit: ConsoleAccess.Visit
    ) async throws(Refusal) -> ConsoleResponse {
        let action = try await action(name, query, visit)
        let snapshot = await backend.snapshot()
        let page = ConfirmationPage(action).page(for: visit.viewer)
        return .html(page.document(for: visit.viewer, rev: snapshot.rev, now: snapshot.takenAt))
    }

    /// Performs an action after the question.
    func act(
        _ name: String, _ request: ConsoleRequest, _ visit: ConsoleAccess.Visit
    ) async throws(Refusal) -> ConsoleResponse {
        try checkRole(visit)
        let fields = try await form(of: request, visit)
        let action = try await action(name, fields, visit)
        var metadata: Logger.Metadata = ["operator": "\(visit.session.name)", "action": "\(action.text)"]
        do throws(ConsoleError) { try await backend.perform(action, by: visit.viewer) } catch {
            metadata["reason"] = "\(error.message)"
            logger.warning("Console action failed", metadata: metadata)
            throw refusal(409, "\(action.label) failed", error.message, visit, back: action.origin)
        }
        logger.notice("Console action", metadata: metadata)
        return .redirect(action.origin)
    }

    private func action(
        _ name: String, _ fields: FormFields, _ visit: ConsoleAccess.Visit
    ) async throws(Refusal) -> ConsoleAction {
        try checkRole(visit)
        let field = { (name: String) in fields[name].flatMap { $0.count <= Self.longestField ? $0 : nil } }
        guard let action = ConsoleAction(name: name, field: field) else {
            throw refusal(404, "Not found", "The console has no such action.", visit)
        }
        if let account = action.account, await backend.snapshot().account(account) == nil {
            throw refusal(404, "Not found", "The program has no account with this name.", visit)
        }
        return action
    }

    private func checkRole(_ visit: ConsoleAccess.Visit) throws(Refusal) {
        guard visit.session.role == .operate else {
            throw refusal(403, "Refused", "The role view may look, but not act.", visit)
        }
    }

    /// The configuration page with the result of validating a text.
    func validate(_ request: ConsoleRequest, _ visit: ConsoleAccess.Visit) async throws(Refusal) -> ConsoleResponse {
        try checkRole(visit)
        let fields = try await form(of: request, limit: Self.maximumText, visit)
        // Browsers send the lines of a text with CR LF.
        let text = fields["text"].map(Self.normalized) ?? ""
        let result = await backend.validate(text)
        let validation = ConfigurationPage.Validation(text: text, result: result)
        let rendered = await configuration(validation, for: visit.viewer)
        return .html(rendered.document(for: visit.viewer))
    }

    private static func normalized(_ text: String) -> String {
        // CR LF is one character.
        String(text.map { $0 == "\r\n" ? "\n" : $0 })
    }
}
