import ExternalBots
import Testing

struct ExternalBotProgramTests {
    @Test func itsCommandsAreThoseGiven() {
        let program = ExternalBotProgram(
            command: ["python3", "bot.py"], directory: ".", environment: [:], commands: ["send_message"], groups: nil)
        #expect(program.commands == ["send_message"])
    }
}
