import BotKit
import ResponderBot
import Testing

struct ResponderBotTests {
    @Test func nameMatchesConfigurations() {
        #expect(ResponderBot.name == "responder")
    }
}
