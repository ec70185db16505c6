import Appliance
import BotKit
import LiveTesting
import Testing

@testable import EpicuraBot

struct SettingsTests {
    @Test func defaultsAreDocumented() throws {
        let settings = try EpicuraSettings(["cloud": "https://api.epicura.example/"])
        #expect(settings.cloud == "https://api.epicura.example")
        #expect(settings.language == .english && settings.timeZone == "UTC" && settings.remindBefore == 60)
        #expect(settings.localNetwork && settings.stepPictures && settings.pairing.isEmpty)
        #expect(settings.imageBytes == 67_108_864)
    }

    @Test(arguments: [
        "http://api.epicura.example", "https://", "ftp://api.example", "https://a.example/path",
        "https://user@a.example", "https://a.example?x", "api.example",
    ])
    func otherAddressesAreRefused(_ cloud: String) {
        #expect(throws: BotSettingsError.self) { try EpicuraSettings(["cloud": .string(cloud)]) }
    }

    @Test func problemsAreReportedTogether() throws {
        let wrong: BotSettings = ["language": "xx", "timeZone": "Mars/Base", "remindBefore": 2_000, "colour": "red"]
        let error = #expect(throws: BotSettingsError.self) { try EpicuraSettings(wrong) }
        #expect(error?.problems.count == 5)
    }

    @Test func cookRequestsAreParsed() {
        let full = CookRequest("dal tadka 4 @Big pot")
        #expect(full.recipe == "dal tadka" && full.servings == 4 && full.appliance == "Big pot")
        let number = CookRequest("2")
        #expect(number.recipe == "2" && number.servings == nil && number.appliance == nil)
    }
}
