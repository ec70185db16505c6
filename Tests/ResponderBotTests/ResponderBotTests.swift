import BotKit
import ResponderBot
import Testing

struct ResponderBotTests {
    @Test func itsNameIsTheOneInConfigurations() {
        #expect(ResponderBot.name == "responder")
    }
}
