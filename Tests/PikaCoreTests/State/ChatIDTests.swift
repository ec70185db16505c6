import MLS
import Testing

@testable import PikaCore

@Suite struct ChatIDTests {
    @Test func textIsGroupIDInHex() {
        let groupID: GroupID = [0x0a, 0xf0]
        let chatID = ChatID(groupID)
        #expect(chatID.rawValue == "0af0" && chatID.description == "0af0" && "\(chatID)" == "0af0")
        #expect(chatID == ChatID(rawValue: "0af0") && chatID.groupID == groupID)
        #expect(ChatID(rawValue: "zz").groupID == nil)
    }

    @Test func ordersByText() {
        let ids: [ChatID] = ["b", "0a", "a"]
        #expect(ids.sorted().map(\.rawValue) == ["0a", "a", "b"])
    }

    @Test func parsesReferencesInEitherCase() {
        for count in [8, 32, 255] {
            let text = String(repeating: "aF", count: count)
            #expect(ChatID(reference: text)?.rawValue == text.lowercased())
        }
    }

    @Test func refusesTextsThatAreNotReferences() {
        let short = String(repeating: "ab", count: 7)
        for text in ["", short, short + "abc", short + "ag", String(repeating: "ab", count: 256), short + "é"] {
            #expect(ChatID(reference: text) == nil, "\(text)")
        }
    }
}
