import BotKit
import Nostr

/// Timers and conversations of one bot in one chat.
struct ChatMemory: Sendable, Hashable {
    var timers: [TimerName: TimerRun] = [:]
    /// States by conversation name, by the person's key in hex.
    var conversations: [String: [String: [UInt8]]] = [:]

    init() {}

    var isEmpty: Bool { timers.isEmpty && conversations.isEmpty }

    /// Applies a change; false if the limit of timers is reached.
    mutating func apply(_ change: BotMemoryChange) -> Bool {
        switch change {
        case .setTimer(let run):
            guard timers[run.timer] != nil || timers.count < BotMemory.maximumTimers else { return false }
            timers[run.timer] = run
        case .cancelTimer(let name): timers[name] = nil
        case .setConversation(let name, let state): conversations[name.person, default: [:]][name.name] = state
        case .endConversation(let name):
            conversations[name.person]?[name.name] = nil
            if conversations[name.person]?.isEmpty == true { conversations[name.person] = nil }
        }
        return true
    }

    // MARK: Stored form

    /// The encoded memory; nil if it is empty.
    var stored: [UInt8]? {
        guard !isEmpty else { return nil }
        let timers = timers.values.sorted { ($0.name, $0.key) < ($1.name, $1.key) }.map { run -> JSONValue in
            [
                "name": .string(run.name), "key": .string(run.key), "text": .string(run.text),
                "due": .integer(run.dueMilliseconds),
            ]
        }
        var people = JSONObject()
        for (person, states) in conversations.sorted(by: { $0.key < $1.key }) {
            var talks = JSONObject()
            for (name, state) in states.sorted(by: { $0.key < $1.key }) {
                talks[name] = .string(String(decoding: state, as: UTF8.self))
            }
            people[person] = .object(talks)
        }
        return JSONValue.object(["v": 1, "timers": .array(timers), "conversations": .object(people)]).json()
    }

    /// Decodes a stored memory, ignoring unreadable parts.
    init(stored: [UInt8], chatID: ChatID) {
        guard let json = try? JSONValue(json: stored), json["v"]?.integer == 1 else { return }
        for timer in json["timers"]?.array ?? [] {
            guard let name = timer["name"]?.string, let key = timer["key"]?.string, let text = timer["text"]?.string,
                let due = timer["due"]?.integer
            else { continue }
            let run = TimerRun(name: name, chatID: chatID, key: key, text: text, dueMilliseconds: due)
            timers[run.timer] = run
        }
        for person in json["conversations"]?.object?.members ?? [] {
            for talk in person.value.object?.members ?? [] {
                guard let state = talk.value.string else { continue }
                conversations[person.name, default: [:]][talk.name] = Array(state.utf8)
            }
        }
    }
}
