extension BotContext {
    /// Sets a timer, which runs the bot's ``OnTimer`` of that name, also after a restart; one of the same chat, name
    /// and key is set anew. It is durable together with what the handler runs for.
    ///
    /// - Parameters:
    ///   - key: tells it from others of its name in the same chat.
    ///   - text: comes back with the run.
    ///   - chatID: the chat in whose order it runs; that of the event unless given.
    ///
    /// Delays beyond ten years count as ten years.
    public func setTimer(
        _ name: String, key: String = "", after delay: Duration, text: String = "", in chatID: String? = nil
    ) {
        guard let chatID = chat(chatID) else { return }
        let wait = min(max(0, delay.wholeMilliseconds), Self.longestWait)
        let run = TimerRun(
            name: name, chatID: chatID, key: key, text: text, dueMilliseconds: nowMilliseconds + wait)
        remember(.setTimer(run))
    }

    private static let longestWait = Int64(3650) * 86_400_000

    /// Takes a timer back; one that is not set makes no difference.
    public func cancelTimer(_ name: String, key: String = "", in chatID: String? = nil) {
        guard let chatID = chat(chatID) else { return }
        remember(.cancelTimer(TimerName(chatID: chatID, name: name, key: key)))
    }
}

extension Duration {
    /// Rounded towards zero; what is beyond 64 bits counts as the last of them.
    package var wholeMilliseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1000)
        let sum = seconds.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        guard overflow || sum.overflow else { return sum.partialValue }
        return components.seconds < 0 ? .min : .max
    }
}
