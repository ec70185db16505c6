import BotKit
import Foundation

/// The values of placeholders on one occasion.
struct TemplateValues: Sendable {
    let occasion: Occasion
    let names: ChatNames
    /// Unix seconds.
    let now: Int64
    let timeZone: TimeZone
    var answer = ""

    func value(of placeholder: Placeholder, in chatID: String) -> String {
        switch placeholder {
        case .sender: occasion.sender?.npub ?? ""
        case .name: occasion.sender.map { names.name(of: $0, in: chatID) } ?? ""
        case .text, .emoji: occasion.message?.content ?? ""
        case .args: occasion.arguments
        case .piece(let number): occasion.pieces.dropFirst(number - 1).first ?? ""
        case .match: occasion.match
        case .who: occasion.subjects.map { names.name(of: $0, in: chatID) }.joined(separator: ", ")
        case .chat: names.chat(chatID)
        case .chatID: chatID
        case .members: names.summary(of: chatID).map { String($0.members.count) } ?? ""
        case .me: names.accountName
        case .date: formatted { [$0.year ?? 0, $0.month ?? 0, $0.day ?? 0] }.joined(separator: "-")
        case .time: formatted { [$0.hour ?? 0, $0.minute ?? 0] }.joined(separator: ":")
        case .answer: answer
        }
    }

    func fill(_ template: Template, in chatID: String) -> String {
        template.filled { value(of: $0, in: chatID) }
    }

    private func formatted(_ parts: (DateComponents) -> [Int]) -> [String] {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        let date = Date(timeIntervalSince1970: TimeInterval(now))
        let components = calendar.dateComponents([.year, .month, .day, .hour, .minute], from: date)
        return parts(components).map { $0 < 10 ? "0\($0)" : String($0) }
    }
}
