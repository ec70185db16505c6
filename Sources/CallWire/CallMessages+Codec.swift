extension CallClientMessage {
    /// The content of the WebSocket message.
    package var bytes: [UInt8] {
        switch self {
        case .publish(let channel, let id): [UInt8](.publish, channel: channel, room: id.bytes.count) + id.bytes
        case .subscribe(let channel, let id): [UInt8](.subscribe, channel: channel, room: id.bytes.count) + id.bytes
        case .close(let channel): [UInt8](.close, channel: channel)
        case .group(let channel, let group): group.message(channel: channel)
        }
    }

    /// Parses the content of a client's WebSocket message.
    package init(bytes: [UInt8]) throws(CallWireError) {
        var reader = try CallWireReader(bytes)
        let kind = try reader.kind()
        let channel: UInt16 = try reader.number()
        switch kind {
        case .publish: self = .publish(channel: channel, try reader.track())
        case .subscribe: self = .subscribe(channel: channel, try reader.track())
        case .close: self = .close(channel: channel)
        case .group: self = .group(channel: channel, try reader.group())
        case .ready, .ended, .refused: throw .unknownType(kind.rawValue)
        }
        try reader.finish()
    }
}

extension CallRelayMessage {
    /// The content of the WebSocket message.
    package var bytes: [UInt8] {
        switch self {
        case .group(let channel, let group): group.message(channel: channel)
        case .ready(let channel): [UInt8](.ready, channel: channel)
        case .ended(let channel): [UInt8](.ended, channel: channel)
        case .refused(let channel, let reason): [UInt8](.refused, channel: channel, room: 1) + [reason.rawValue]
        }
    }

    /// Parses the content of a relay's WebSocket message.
    package init(bytes: [UInt8]) throws(CallWireError) {
        var reader = try CallWireReader(bytes)
        let kind = try reader.kind()
        let channel: UInt16 = try reader.number()
        switch kind {
        case .group: self = .group(channel: channel, try reader.group())
        case .ready: self = .ready(channel: channel)
        case .ended: self = .ended(channel: channel)
        case .refused:
            let reason: UInt8 = try reader.number()
            guard let refusal = Refusal(rawValue: reason) else { throw .unknownRefusal(reason) }
            self = .refused(channel: channel, refusal)
        case .publish, .subscribe, .close: throw .unknownType(kind.rawValue)
        }
        try reader.finish()
    }

    /// The channel that the message is about.
    package var channel: UInt16 {
        switch self {
        case .group(let channel, _), .ready(let channel), .ended(let channel), .refused(let channel, _): channel
        }
    }
}

extension CallGroup {
    fileprivate func message(channel: UInt16) -> [UInt8] {
        var bytes = [UInt8](.group, channel: channel, room: 8 + self.payload.count)
        bytes.append(self)
        return bytes
    }
}
