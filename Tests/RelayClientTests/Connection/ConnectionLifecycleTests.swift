import PikaCore
import Testing

@testable import RelayClient

struct ConnectionLifecycleTests {
    private var lifecycle = ConnectionLifecycle(TransportConfiguration())
    private var generator = SystemRandomNumberGenerator()

    private mutating func lose(_ session: Int, now: Duration) -> [ConnectionLifecycle.Step]? {
        lifecycle.disconnected(
            session: session, Disconnection(.closed, "gone"), isNeeded: true, hasQueued: false, now: now,
            using: &generator)
    }

    @Test mutating func connectsPingsAndRetries() {
        let attempt = lifecycle.connectIfIdle()
        #expect(attempt == [.changed(.connecting), .connect(session: 1)])
        let open = lifecycle.connected(session: 1, now: .zero)
        #expect(open == [.changed(.connected), .schedule(.heartbeat(session: 1), after: .seconds(30))])
        let beat = lifecycle.elapsed(.heartbeat(session: 1), isNeeded: true, now: .seconds(30))
        #expect(beat == [.ping, .schedule(.heartbeat(session: 1), after: .seconds(30))])
        let silent = lifecycle.elapsed(.heartbeat(session: 1), isNeeded: true, now: .seconds(60))
        #expect(silent == [.disconnect(session: 1, handshake: false)])
        let lost = lose(1, now: .seconds(60))
        #expect(lost?.count == 3)
        #expect(lifecycle.phase == .waiting)
        let retry = lifecycle.elapsed(.retry(session: 1), isNeeded: true, now: .seconds(62))
        #expect(retry == [.changed(.connecting), .connect(session: 2)])
    }

    @Test mutating func heldReadingIsNotSilence() {
        _ = lifecycle.connect()
        _ = lifecycle.connected(session: 1, now: .zero)
        lifecycle.readingHeld()
        let beat = lifecycle.elapsed(.heartbeat(session: 1), isNeeded: true, now: .seconds(600))
        #expect(beat.first == .ping)
    }

    @Test mutating func ignoresInputsOfEarlierSessions() {
        _ = lifecycle.connect()
        _ = lose(1, now: .zero)
        _ = lifecycle.retryNow()
        #expect(lifecycle.session == 2)
        let late = lifecycle.connected(session: 1, now: .zero)
        #expect(late == nil)
        let again = lose(1, now: .zero)
        #expect(again == nil)
    }

    /// Random inputs: one session at most is open, and a stopped connection never opens another.
    @Test(arguments: 0..<50) func opensOneSessionAtATime(run: Int) {
        var lifecycle = ConnectionLifecycle(TransportConfiguration())
        var generator = SystemRandomNumberGenerator()
        var now = Duration.zero
        var open: Set<Int> = []
        var isStopped = false
        for step in 0..<300 {
            now += .seconds(Int.random(in: 0...40, using: &generator))
            var steps: [ConnectionLifecycle.Step] = []
            let session = max(0, lifecycle.session - Int.random(in: 0...1, using: &generator))
            switch Int.random(in: 0..<(step > 250 ? 8 : 7), using: &generator) {
            case 0: steps = lifecycle.connectIfIdle()
            case 1: steps = lifecycle.connected(session: session, now: now) ?? []
            case 2:
                let wasOpen = open.contains(session)
                let ended = lifecycle.disconnected(
                    session: session, Disconnection(.closed, "gone"), isNeeded: true, hasQueued: false, now: now,
                    using: &generator)
                if ended != nil {
                    #expect(wasOpen)
                    open.remove(session)
                }
                steps = ended ?? []
            case 3: steps = lifecycle.elapsed(.retry(session: session), isNeeded: true, now: now)
            case 4: steps = lifecycle.elapsed(.heartbeat(session: session), isNeeded: true, now: now)
            case 5: steps = lifecycle.connectSoon(now: now) ?? []
            case 6: lifecycle.noteTraffic(now: now)
            default:
                steps = lifecycle.stop()
                isStopped = true
            }
            for case .connect(let session) in steps {
                #expect(!isStopped)
                open.insert(session)
            }
            #expect(open.count <= 1)
        }
    }

    @Test func outgoingMessagesAreBounded() {
        var messages = OutgoingMessages(maximumCount: 3, maximumBytes: 10)
        let isGreeted = messages.greet([.text("ab")])
        #expect(isGreeted)
        let results = [
            messages.append(.text("12345")), messages.append(.text("1234")), messages.append(.binary([1])),
            messages.append(.binary([1])),
        ]
        #expect(results == [true, false, true, false])
        #expect(messages.bytes == 8)
        let order = [messages.next(), messages.next(), messages.next(), messages.next()]
        #expect(order == [.text("ab"), .text("12345"), .binary([1]), nil])
        #expect(messages.bytes == 0)
    }

    @Test func greetingEndsWithItsSession() {
        var messages = OutgoingMessages(maximumCount: 3, maximumBytes: 10)
        _ = messages.append(.text("1"))
        _ = messages.greet([.text("a"), .text("b")])
        messages.endSession()
        let next = messages.next()
        #expect(next == .text("1"))
        let isGreeted = messages.greet([.text("12345678901")])
        #expect(!isGreeted)
        #expect(messages.isEmpty)
    }
}
