extension BotContext {
    /// Sets a timer, which runs the bot's ``OnTimer`` of that name, also after a restart; one of the same chat, name
    /// and key is set anew. It is durable together with what the handler runs for.
    ///
    /// - Parameters:
    ///   - key: tells it from others of its name in the same chat.
    ///   - text: comes back with the run.
    ///   - chatID: the chat in whose order it runs; that of the event unless given.
    public func setTimer(
        _ name: String, key: String = "", after delay: Duration, text: String = "", in chatID: String? = nil
    ) {
        guard let chatID = chat(chatID) else { return }
        let seconds = max(0, delay.components.seconds)
        let milliseconds = seconds.multipliedReportingOverflow(by: 1000)
        let due = nowMilliseconds.addingReportingOverflow(
            milliseconds.overflow
                ? .max : milliseconds.partialValue + max(0, delay.components.attoseconds) / 1_000_000_000_000_000)
        let run = TimerRun(
            name: name, chatID: chatID, key: key, text: text, dueMilliseconds: due.overflow ? .max : due.partialValue)
        collect(.putValue(scope: StoredTimer.scope(ofBot: bot), key: run.storedName, value: run.stored))
    }

    /// Takes a timer back; one that is not set makes no difference.
    public func cancelTimer(_ name: String, key: String = "", in chatID: String? = nil) {
        guard let chatID = chat(chatID) else { return }
        let run = TimerRun(name: name, chatID: chatID, key: key, text: "", dueMilliseconds: 0)
        collect(.putValue(scope: StoredTimer.scope(ofBot: bot), key: run.storedName, value: nil))
    }
}

/// Where timers are kept.
package enum StoredTimer {
    package static func scope(ofBot bot: String) -> String { "\(bot)/timers" }
}

extension TimerRun {
    /// Its key in the scope of timers.
    package var storedName: String { "\(chatID)/\(name)/\(key)" }

    package var stored: [UInt8] {
        JSONValue.object([
            "v": 1, "name": .string(name), "chat": .string(chatID), "key": .string(key), "text": .string(text),
            "due": .integer(dueMilliseconds),
        ]).json()
    }

    /// Nil for what is no timer.
    package init?(stored: [UInt8]) {
        guard let json = try? JSONValue(json: stored), json["v"]?.integer == 1, let name = json["name"]?.string,
            let chatID = json["chat"]?.string, let key = json["key"]?.string, let text = json["text"]?.string,
            let due = json["due"]?.integer
        else { return nil }
        self.init(name: name, chatID: chatID, key: key, text: text, dueMilliseconds: due)
    }
}
