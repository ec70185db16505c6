import BotKit
import Foundation

/// The values of placeholders for one trigger.
struct TemplateValues: Sendable {
    let triggerContext: TriggerContext
    let names: ChatNames
    /// The time when the rule runs, for the date and the time.
    let now: UnixTime
    let timeZone: TimeZone
    var answer = ""
    /// The item's JSON; nil for other triggers and other payloads.
    let document: JSONValue?

    init(triggerContext: TriggerContext, names: ChatNames, now: UnixTime, timeZone: TimeZone) {
        self.triggerContext = triggerContext
        self.names = names
        self.now = now
        self.timeZone = timeZone
        document = triggerContext.item.flatMap { try? JSONValue(json: $0.payload) }
    }

    func value(of placeholder: Placeholder, in chatID: ChatID) -> String {
        switch placeholder {
        case .sender: triggerContext.sender?.npub ?? ""
        case .name: triggerContext.sender.map { names.name(of: $0, in: chatID) } ?? ""
        case .text, .emoji: triggerContext.message?.content ?? triggerContext.item?.text ?? ""
        case .feed: triggerContext.item?.feed ?? ""
        case .member(let path): document.flatMap { $0.text(at: path) } ?? ""
        case .args: triggerContext.arguments
        case .positional(let number): triggerContext.positionalValues.dropFirst(number - 1).first ?? ""
        case .match: triggerContext.match
        case .who: triggerContext.subjects.map { names.name(of: $0, in: chatID) }.joined(separator: ", ")
        case .chat: names.chat(chatID)
        case .chatID: chatID.rawValue
        case .members: names.summary(of: chatID).map { String($0.allMembers.count) } ?? ""
        case .me: names.accountName
        case .date: formatted { [$0.year ?? 0, $0.month ?? 0, $0.day ?? 0] }.joined(separator: "-")
        case .time: formatted { [$0.hour ?? 0, $0.minute ?? 0] }.joined(separator: ":")
        case .answer: answer
        }
    }

    func fill(_ template: Template, in chatID: ChatID) -> String {
        template.filled { value(of: $0, in: chatID) }
    }

    private func formatted(_ parts: (DateComponents) -> [Int]) -> [String] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let date = Date(timeIntervalSince1970: TimeInterval(now.seconds))
        let components = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        return parts(components).map { $0 < 10 ? "0\($0)" : String($0) }
    }
}

extension JSONValue {
    /// The text of a member: a string itself, other values as JSON; nil if it is missing or null.
    fileprivate func text(at path: [String]) -> String? {
        var value = self
        for name in path {
            let next = value.array.flatMap { items in Int(name).flatMap { items.indices.contains($0) ? items[$0] : nil }
            }
            guard let next = next ?? value[name] else { return nil }
            value = next
        }
        if case .null = value { return nil }
        return value.string ?? String(decoding: value.json(), as: UTF8.self)
    }
}
