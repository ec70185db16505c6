import BotKit

/// The pending check of a group; written only by the schedule.
struct AskedCheck: Codable, Sendable, Hashable {
    var name: String
    /// The start of the check, in Unix milliseconds.
    var at: Int64
}

/// The message recorded during a check; written only by the chat's own handlers.
struct NoticedAnswer: Codable, Sendable, Hashable {
    /// The check during which it arrived.
    var check: AskedCheck
    var afterMilliseconds: Int64
}

/// The latest result of a group's check; written only by the schedule.
struct CheckVerdict: Codable, Sendable, Hashable {
    var isPassed: Bool
    /// The start of the check, in Unix milliseconds.
    var at: Int64
    /// The time of the matching message after the check's message; nil if there was none.
    var afterMilliseconds: Int64?
}

extension AnswerCheck {
    /// Returns whether a message is the expected answer, or breaks the expected silence.
    func matches(_ content: String, from sender: PublicKey) -> Bool {
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
