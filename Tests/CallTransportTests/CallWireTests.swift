import CallWire
import Testing

@Suite struct CallWireTests {
    private static let group = CallGroup(sequence: 0x0102_0304_0506_0708, payload: [9, 10])

    private static func track(_ byte: UInt8 = 7) throws -> CallTrackID {
        try #require(CallTrackID([UInt8](repeating: byte, count: CallTrackID.length)))
    }

    private static func clientMessages() throws -> [CallClientMessage] {
        let track = try Self.track()
        return [
            .publish(channel: 1, track), .subscribe(channel: 0x0203, track), .close(channel: .max),
            .group(channel: 4, Self.group),
        ]
    }

    private static var relayMessages: [CallRelayMessage] {
        let plain: [CallRelayMessage] = [.group(channel: 4, Self.group), .ready(channel: 5), .ended(channel: 6)]
        return plain + CallRelayMessage.Refusal.allCases.map { .refused(channel: 7, $0) }
    }

    @Test func writesFieldsInNetworkOrder() throws {
        let group = CallClientMessage.group(channel: 0x0203, Self.group)
        #expect(group.bytes == [4, 2, 3, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
        let subscription = CallClientMessage.subscribe(channel: 1, try Self.track())
        #expect(subscription.bytes == [2, 0, 1] + [UInt8](repeating: 7, count: 32))
        #expect(CallRelayMessage.refused(channel: 1, .tooManyTracks).bytes == [0x13, 0, 1, 3])
    }

    @Test func readsWhatItWrites() throws {
        for message in try Self.clientMessages() {
            let read = try CallClientMessage(bytes: message.bytes)
            #expect(read == message)
        }
        for message in Self.relayMessages {
            let read = try CallRelayMessage(bytes: message.bytes)
            #expect(read == message)
        }
    }

    @Test func refusesTruncatedAndTrailingBytes() throws {
        for message in try Self.clientMessages() {
            let bytes = message.bytes
            // A shorter payload of a frame is another frame.
            let shortest = if case .group = message { CallWire.groupHeader + 1 } else { bytes.count }
            for length in 0..<shortest {
                #expect(throws: CallWireError.tooShort) { try CallClientMessage(bytes: Array(bytes.prefix(length))) }
            }
            if case .group = message { continue }
            #expect(throws: CallWireError.tooLong) { try CallClientMessage(bytes: bytes + [0]) }
        }
    }

    @Test func refusesMessagesOfTheOtherSide() throws {
        #expect(throws: CallWireError.unknownType(0x11)) { try CallClientMessage(bytes: [0x11, 0, 1]) }
        #expect(throws: CallWireError.unknownType(0x03)) { try CallRelayMessage(bytes: [0x03, 0, 1]) }
        #expect(throws: CallWireError.unknownType(0xFF)) { try CallRelayMessage(bytes: [0xFF, 0, 1]) }
        #expect(throws: CallWireError.unknownRefusal(9)) { try CallRelayMessage(bytes: [0x13, 0, 1, 9]) }
    }

    @Test func boundsTheSizeOfMessages() throws {
        let largest = CallGroup(sequence: 0, payload: [UInt8](repeating: 0, count: CallWire.maximumPayload))
        let bytes = CallClientMessage.group(channel: 0, largest).bytes
        #expect(bytes.count == CallWire.maximumMessage)
        let read = try CallClientMessage(bytes: bytes)
        #expect(read == .group(channel: 0, largest))
        #expect(throws: CallWireError.tooLong) { try CallClientMessage(bytes: bytes + [0]) }
    }

    @Test func hidesTheIDOfTracks() throws {
        let track = try Self.track(0xAB)
        #expect("\(track)" == "a call's track")
        #expect(!String(reflecting: track).contains("171"))
        #expect(CallTrackID([1, 2, 3]) == nil)
    }
}
