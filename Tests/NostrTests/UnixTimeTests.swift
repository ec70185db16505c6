import Foundation
import Nostr
import Testing

@Suite struct UnixTimeTests {
    @Test func arithmeticStaysInRange() {
        #expect(UnixTime.distantFuture + 1 == .distantFuture)
        #expect(UnixTime.distantPast - 1 == .distantPast)
        #expect(UnixTime.distantFuture.seconds(since: -1) == .max)
        #expect(UnixTime.distantPast.seconds(since: 1) == .min)
        #expect(UnixTime.distantFuture.milliseconds == .max)
        #expect(UnixTime.distantPast.milliseconds == .min)
    }

    @Test func convertsMilliseconds() {
        #expect(UnixTime(milliseconds: 1999) == 1)
        #expect(UnixTime(milliseconds: -1999) == -1)
        #expect((UnixTime(1_700_000_000) + 5).milliseconds == 1_700_000_005_000)
    }

    @Test func measuresSecondsBetweenTimes() {
        var time: UnixTime = 100
        time += 20
        time -= 5
        #expect(time.seconds(since: 100) == 15)
        #expect(time > 114)
    }

    @Test func encodesAsNumber() throws {
        let text = try JSONEncoder().encode([UnixTime(12)])
        #expect(String(decoding: text, as: UTF8.self) == "[12]")
        #expect(try JSONDecoder().decode([UnixTime].self, from: text) == [12])
    }
}
