import CallWire

extension Target {
    /// Messages of a call relay and of its clients.
    static func calls() -> Target {
        Target("calls", [self.callClientMessage(), self.callRelayMessage()])
    }

    private static func callClientMessage() -> Reader {
        let track = CallTrackID([UInt8](repeating: 1, count: CallTrackID.length))
        let group = CallClientMessage.group(channel: 1, CallGroup(sequence: 2, payload: [3]))
        var seeds = [group.bytes, CallClientMessage.close(channel: 1).bytes]
        if let track { seeds.append(CallClientMessage.publish(channel: 1, track).bytes) }
        return Reader(seeds) { bytes in
            guard let message = try? CallClientMessage(bytes: bytes) else { return }
            precondition(message.bytes == bytes, "a message must have one encoding")
        }
    }

    private static func callRelayMessage() -> Reader {
        let refused = CallRelayMessage.refused(channel: 1, .tooManyTracks)
        return Reader([refused.bytes, CallRelayMessage.ready(channel: 1).bytes]) { bytes in
            guard let message = try? CallRelayMessage(bytes: bytes) else { return }
            precondition(message.bytes == bytes, "a message must have one encoding")
        }
    }
}
