import Nostr
import Testing

@testable import Daemon

@Suite struct ReplyLogTests {
    private static func place(_ line: String, key: String = "k") throws -> ReplyPlace {
        ReplyPlace(key: key, of: try DaemonRequest(line: line))
    }

    @Test func decidesByKeyAndFingerprint() throws {
        let place = try Self.place(#"{"cmd":"shutdown"}"#)
        guard case .reply(let result) = try ReplyLog.decide(place, place.entry(["a": 1]).value ?? [:]) else {
            throw DaemonFailure(.runtimeError, "expected a stored reply")
        }
        #expect(result == ["a": 1])
        guard case .execute(let known) = try ReplyLog.decide(place, ["of": .string(place.fingerprint), "cursor": 4])
        else { throw DaemonFailure(.runtimeError, "expected an execution") }
        #expect(known.cursor == 4)
        let other = try Self.place(#"{"cmd":"list_groups"}"#)
        #expect(throws: DaemonFailure.self) { try ReplyLog.decide(other, ["of": .string(place.fingerprint)]) }
    }

    @Test func reusesSlotsOfTheOldestKeys() throws {
        var log = ReplyLog()
        log.restore(["count": 1000])
        let place = try Self.place(#"{"cmd":"shutdown"}"#)
        let slot = log.reserve()
        #expect(slot.key == "reply-slot/0")
        let entries = ReplyLog.entries(place, in: slot, evicting: ["name": "reply/old"])
        #expect(entries.map(\.key) == [place.name, "reply-slot/0", "replies", "reply/old"])
        #expect(entries.last?.value == nil && entries[2].value == ["count": 1001])
    }
}
