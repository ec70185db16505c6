import CallWire
import Testing

@testable import EmbeddedRelay

@Suite struct CallOutboxTests {
    private static func frame(_ sequence: UInt64, bytes: Int = 1) -> CallRelayMessage {
        .group(channel: 1, CallGroup(sequence: sequence, payload: [UInt8](repeating: 0, count: bytes)))
    }

    @Test func dropsTheOldestFramesBeyondTheirNumber() {
        var limits = CallLimits()
        limits.queuedGroups = 2
        var outbox = CallOutbox(limits)
        for message in [.ready(channel: 1), Self.frame(0), Self.frame(1), Self.frame(2)] { outbox.append(message) }
        #expect(outbox.dropped == 1 && outbox.groups == 2)
        let messages = [outbox.popFirst(), outbox.popFirst(), outbox.popFirst(), outbox.popFirst()]
        #expect(messages == [.ready(channel: 1), Self.frame(1), Self.frame(2), nil])
        #expect(outbox.isEmpty && outbox.bytes == 0)
    }

    @Test func dropsTheOldestFramesBeyondTheirSize() {
        var limits = CallLimits()
        limits.queuedBytes = 10
        var outbox = CallOutbox(limits)
        outbox.append(Self.frame(0, bytes: 6))
        outbox.append(Self.frame(1, bytes: 6))
        #expect(outbox.dropped == 1 && outbox.bytes == 6)
        // The newest frame stays, whatever its size.
        outbox.append(Self.frame(2, bytes: 20))
        #expect(outbox.dropped == 2 && outbox.bytes == 20)
        let last = outbox.popFirst()
        #expect(last == Self.frame(2, bytes: 20))
    }
}
