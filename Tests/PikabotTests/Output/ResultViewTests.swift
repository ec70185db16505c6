import Foundation
import Nostr
import Testing

@testable import pikabot

@Suite struct ResultViewTests {
    private static let zone: TimeZone = .gmt

    @Test func printsRecordsAsNamesAndValues() {
        let result: JSONValue = [
            "event_id": "ab", "auto_created_group": true, "name": nil, "media": ["filename": "a.txt", "bytes": 9],
        ]
        let text = """
            event_id            ab
            auto_created_group  yes
            name                -
            media.filename      a.txt
            media.bytes         9
            """
        #expect(ResultView.record.text(result) == text)
        #expect(ResultView.record.text(.null) == "done")
    }

    @Test func printsListsAsTables() throws {
        let key = try PublicKey(hex: ClientCommandTests.hex)
        let result: JSONValue = [
            "messages": [
                [
                    "message_id": "0a", "from_pubkey": .string(key.hex), "content": "one\ntwo\u{1b}[31m",
                    "created_at": 0,
                    "media": [["filename": "a.png"], ["filename": "b.png"]],
                ],
                ["message_id": "0b0b", "from_pubkey": "?", "content": "👩‍💻 ok", "created_at": 86_399, "media": []],
            ]
        ]
        let text = """
            TIME                 FROM              ID    FILES         MESSAGE
            1970-01-01 00:00:00  npub10xlxvlhemja  0a    a.png, b.png  one⏎two\u{FFFD}[31m
            1970-01-01 23:59:59  -                 0b0b                👩‍💻 ok
            """
        #expect(Pikabot.Messages.view.text(result, timeZone: Self.zone) == text)
    }

    @Test func emptyListsGiveAdvice() {
        #expect(Pikabot.Groups.view.text(["groups": []]).contains("pikabot send --to"))
        #expect(Pikabot.Welcomes.view.text(["welcomes": []]) == "No invitations.")
    }

    @Test func foreignTextCannotControlTerminal() {
        #expect("a\u{1b}]0;x\u{07}b\r\u{202e}c".printable == "a\u{FFFD}]0;x\u{FFFD}b\u{FFFD}\u{FFFD}c")
        #expect("żółć 日本 🦊".printable == "żółć 日本 🦊")
    }
}
