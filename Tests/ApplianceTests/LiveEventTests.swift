import LiveTesting
import Nostr
import Testing

@testable import Appliance

@Suite struct LiveEventTests {
    private static let bodies: [LiveEvent.Body] = [
        .hello(isResumed: true), .applianceStatus(isOnline: false, state: .paused),
        .cooking(Samples.status(revision: 2)), .timerFired(sessionID: "s1", label: "dal"),
        .alert(LiveEvent.Alert(id: "x", severity: .danger, code: "overheating", text: "Hot!", sessionID: "s1")),
        .emergencyStopAcknowledged(EmergencyStopReceipt(id: "e", acknowledgedAt: 4)), .preferencesChanged(version: 3),
        .unknown(type: "firmware.updated"),
    ]

    @Test(arguments: bodies)
    func roundTrips(body: LiveEvent.Body) throws {
        let event = LiveEvent(sequence: 5, at: 10, applianceID: "a1", body: body)
        let read = try APICoding.decode(LiveEvent.self, from: try APICoding.encode(event))
        #expect(read == event)
    }

    @Test func refusesWrongEvents() {
        let texts = [
            #"{"sequence":-1,"at":0,"type":"hello","isResumed":true}"#, #"{"sequence":1,"at":0,"type":"hello"}"#,
            #"{"sequence":1,"at":0,"type":""}"#, #"{"sequence":1e99,"at":0,"type":"x"}"#, "[]", "",
        ]
        for text in texts {
            #expect(code { _ = try APICoding.decode(LiveEvent.self, from: Array(text.utf8)) } == .malformed)
        }
    }

    @Test func cursorDropsRepetitionsAndFindsGaps() {
        var cursor = EventCursor(last: 4)
        let verdicts = [5, 5, 3, 6, 9, 10].map { number in
            cursor.admit(LiveEvent(sequence: number, at: 0, body: .preferencesChanged(version: 1)))
        }
        #expect(verdicts == [.new, .repeated, .repeated, .new, .afterGap, .new])
        let resumed = cursor.admit(LiveEvent(sequence: 10, at: 0, body: .hello(isResumed: true)))
        let restarted = cursor.admit(LiveEvent(sequence: 2, at: 0, body: .hello(isResumed: false)))
        let next = cursor.admit(LiveEvent(sequence: 3, at: 0, body: .preferencesChanged(version: 1)))
        #expect(resumed == .repeated && restarted == .afterGap && next == .new)
    }

    @Test func cursorAdmitsEachEventOnce() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<200 {
            var cursor = EventCursor()
            var admitted: [Int] = []
            for _ in 0..<50 {
                let event = LiveEvent(
                    sequence: Int.random(in: 1...30, using: &random), at: 0, body: .preferencesChanged(version: 1))
                if cursor.admit(event) != .repeated { admitted.append(event.sequence) }
            }
            #expect(admitted == Array(Set(admitted)).sorted())
        }
    }
}
