extension BotContext {
    /// Sets a durable timer, which runs the bot's ``OnTimer`` with that name once, even after a restart.
    ///
    /// It replaces a timer with the same chat, name and key, and is committed together with the handled trigger.
    ///
    /// - Parameters:
    ///   - name: the name of the ``OnTimer`` to run.
    ///   - key: distinguishes timers with the same name in the same chat.
    ///   - delay: the time from the start of this handler, at most ten years.
    ///   - text: passed to the handler when the timer expires.
    ///   - chatID: the chat that the timer belongs to; the event's chat by default.
    public func setTimer(
        _ name: String, key: String = "", after delay: Duration, text: String = "", in chatID: ChatID? = nil
    ) {
        guard let chatID = chat(chatID) else { return }
        let wait = min(max(0, delay.wholeMilliseconds), Self.longestWait)
        let run = TimerRun(
            name: name, chatID: chatID, key: key, text: text, dueMilliseconds: nowMilliseconds + wait)
        remember(.setTimer(run))
    }

    private static let longestWait = Int64(3650) * 86_400_000

    /// Cancels a timer; does nothing if it is not set.
    public func cancelTimer(_ name: String, key: String = "", in chatID: ChatID? = nil) {
        guard let chatID = chat(chatID) else { return }
        remember(.cancelTimer(TimerName(chatID: chatID, name: name, key: key)))
    }
}

extension Duration {
    /// The duration in milliseconds, rounded towards zero and clamped to 64 bits.
    package var wholeMilliseconds: Int64 {
        let (seconds, overflow) = components.seconds.multipliedReportingOverflow(by: 1000)
        let sum = seconds.addingReportingOverflow(components.attoseconds / 1_000_000_000_000_000)
        guard overflow || sum.overflow else { return sum.partialValue }
        return components.seconds < 0 ? .min : .max
    }
}
