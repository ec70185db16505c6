import Nostr
import Testing

@testable import EmbeddedRelay

struct MalformedMessageTests {
    private let id = String(repeating: "ab", count: 32)

    private func reply(_ text: String) -> RelayMessage? {
        let json = Array(text.utf8)
        do throws(NostrError) {
            _ = try ClientMessage(json: json)
            return nil
        } catch {
            return MalformedMessage.reply(to: json, error)
        }
    }

    @Test func answersMalformedEventWithItsID() throws {
        let answer = reply(#"["EVENT",{"id":"\#(id)","kind":"one"}]"#)
        guard case .ok(let answered, false, let text)? = answer else { return #expect(Bool(false)) }
        #expect(answered == (try EventID(hex: id)))
        #expect(text.hasPrefix("invalid: "))
    }

    @Test func answersMalformedRequestWithItsSubscription() {
        for text in [#"["REQ","mine",{"kinds":"all"}]"#, #"["COUNT","mine"]"#, #"["REQ","mine",{"ids":["xyz"]}]"#] {
            guard case .closed("mine", let reason)? = reply(text) else { return #expect(Bool(false), "\(text)") }
            #expect(reason.hasPrefix("invalid: "))
        }
    }

    @Test(arguments: [
        "", "hello", "[]", "{}", "null", #"["EVENT"]"#, #"["EVENT",{"id":"xy"}]"#, #"["REQ"]"#, #"["REQ",7,{}]"#,
        #"["HI",1]"#,
        #"["EVENT",{"#, "[[[[[[", #"["REQ","",{}]"#,
    ])
    func answersOtherMalformedMessagesWithNotice(text: String) {
        guard case .notice(let reason)? = reply(text) else { return #expect(Bool(false)) }
        #expect(reason.hasPrefix("invalid: "))
    }
}
