import BotKit

/// The check that is under way in a group; written by the schedule alone.
struct AskedCheck: Codable, Sendable, Hashable {
    var name: String
    /// Unix milliseconds.
    var at: Int64
}

/// What came while a check was under way; written by the chat's own handlers alone.
struct NoticedAnswer: Codable, Sendable, Hashable {
    /// Which run of which check it belongs to.
    var check: AskedCheck
    var afterMilliseconds: Int64
}

/// How the checks of a group ended the last time, by their names; written by the schedule alone.
struct CheckVerdict: Codable, Sendable, Hashable {
    var isPassed: Bool
    /// Unix milliseconds.
    var at: Int64
    /// When somebody spoke; nil if nobody did.
    var afterMilliseconds: Int64?
}

extension AnswerCheck {
    /// Whether a message is what the check waits for, or what must not come.
    func concerns(_ content: String, from sender: PublicKey) -> Bool {
        guard from == nil || from == sender else { return false }
        guard case .answer(let text) = expectation else { return true }
        return content.lowercased().contains(text.lowercased())
    }

    func verdict(_ noticed: NoticedAnswer?, of asked: AskedCheck) -> CheckVerdict {
        let after = noticed.flatMap { $0.check == asked ? $0.afterMilliseconds : nil }
        return CheckVerdict(
            isPassed: expectation == .silence ? after == nil : after != nil, at: asked.at, afterMilliseconds: after)
    }
}
