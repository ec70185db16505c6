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

    func value(of placeholder: Placeholder, in chatID: ChatID) -> String {
        switch placeholder {
        case .sender: triggerContext.sender?.npub ?? ""
        case .name: triggerContext.sender.map { names.name(of: $0, in: chatID) } ?? ""
        case .text, .emoji: triggerContext.message?.content ?? ""
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
