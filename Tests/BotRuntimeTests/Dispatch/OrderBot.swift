import BotKit

/// Asks for a dish and a number.
struct OrderBot: Bot {
    static let name = "order"

    private struct Order: Codable {
        var dish: String?
    }

    private struct Burnt: Error {}

    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnCommand("price") { _, context in context.send("7") }
        Conversation("order", when: .command("order"), timeout: .seconds(300)) { _, context in
            context.send("What?")
            return .wait(Order())
        } next: { order, message, context in
            guard let dish = order.dish else {
                if message.content == "burnt" { throw Burnt() }
                context.send("How many?")
                return .wait(Order(dish: message.content))
            }
            context.send("\(message.content) × \(dish)")
            return .end
        } timedOut: { order, context in
            context.send("No \(order.dish ?? "order"), then.")
        }
        OnMessage { message, context in context.send("hm, \(message.content)") }
    }
}
