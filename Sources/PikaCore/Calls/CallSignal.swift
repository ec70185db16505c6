import Nostr

/// A call's media session as the invite describes it (wire §8.1).
public struct CallSession: Sendable, Hashable {
    public struct Track: Sendable, Hashable {
        public var name: String
        public var codec: String
        public var sampleRate: Int64
        public var channels: Int64
        public var frameMilliseconds: Int64

        public init(name: String, codec: String, sampleRate: Int64, channels: Int64, frameMilliseconds: Int64) {
            self.name = name
            self.codec = codec
            self.sampleRate = sampleRate
            self.channels = channels
            self.frameMilliseconds = frameMilliseconds
        }

        public static let audio = Track(
            name: "audio0", codec: "opus", sampleRate: 48_000, channels: 1, frameMilliseconds: 20)
    }

    public var moqURL: String
    /// Without a leading or trailing slash.
    public var broadcastBase: String
    /// `capv1_` and 64 hex digits; empty until the core has derived it from the group's epoch.
    public var relayAuth: String
    public var tracks: [Track]

    public init(moqURL: String, broadcastBase: String, relayAuth: String = "", tracks: [Track]) {
        self.moqURL = moqURL
        self.broadcastBase = broadcastBase
        self.relayAuth = relayAuth
        self.tracks = tracks
    }
}

/// An inner event of kind 10 (wire §8.1).
public struct CallSignal: Sendable, Hashable {
    public enum Body: Sendable, Hashable {
        case invite(CallSession)
        case accept(CallSession)
        case reject(reason: String)
        case end(reason: String)
    }

    /// UUID text.
    public var callID: String
    /// The sender's clock, Unix milliseconds.
    public var timestampMilliseconds: Int64
    public var body: Body

    public init(callID: String, timestampMilliseconds: Int64, body: Body) {
        self.callID = callID
        self.timestampMilliseconds = timestampMilliseconds
        self.body = body
    }

    /// `call.invite`, `call.accept`, `call.reject` or `call.end`.
    public var type: String {
        switch self.body {
        case .invite: "call.invite"
        case .accept: "call.accept"
        case .reject: "call.reject"
        case .end: "call.end"
        }
    }
}

extension CallSignal {
    /// Reads a signal; nil for content that is none, or of a version or namespace to be ignored.
    public init?(content: String) {
        guard let json = try? JSONValue(json: content), json["v"]?.integer == 1, json["ns"]?.string == "pika.call",
            let type = json["type"]?.string, let callID = json["call_id"]?.string,
            let timestamp = json["ts_ms"]?.integer, let body = json["body"]
        else { return nil }
        self.callID = callID
        self.timestampMilliseconds = timestamp
        switch type {
        case "call.invite":
            guard let session = CallSession(body) else { return nil }
            self.body = .invite(session)
        case "call.accept":
            guard let session = CallSession(body) else { return nil }
            self.body = .accept(session)
        case "call.reject":
            guard let reason = body["reason"]?.string else { return nil }
            self.body = .reject(reason: reason)
        case "call.end":
            guard let reason = body["reason"]?.string else { return nil }
            self.body = .end(reason: reason)
        default: return nil
        }
    }

    /// The inner event's content.
    public var content: String {
        let body: JSONValue =
            switch self.body {
            case .invite(let session), .accept(let session): session.json
            case .reject(let reason), .end(let reason): ["reason": .string(reason)]
            }
        let json: JSONValue = [
            "v": 1, "ns": "pika.call", "type": .string(self.type), "call_id": .string(self.callID),
            "ts_ms": .integer(self.timestampMilliseconds), "from": .null, "body": body,
        ]
        return json.jsonText
    }
}

extension CallSession {
    fileprivate init?(_ json: JSONValue) {
        guard let moqURL = json["moq_url"]?.string, let base = json["broadcast_base"]?.string,
            let auth = json["relay_auth"]?.string, let tracks = json["tracks"]?.array
        else { return nil }
        self.moqURL = moqURL
        self.broadcastBase = base
        self.relayAuth = auth
        self.tracks = []
        for track in tracks {
            guard let name = track["name"]?.string, let codec = track["codec"]?.string,
                let rate = track["sample_rate"]?.integer, let channels = track["channels"]?.integer,
                let frame = track["frame_ms"]?.integer
            else { return nil }
            self.tracks.append(
                Track(name: name, codec: codec, sampleRate: rate, channels: channels, frameMilliseconds: frame))
        }
    }

    fileprivate var json: JSONValue {
        [
            "moq_url": .string(self.moqURL), "broadcast_base": .string(self.broadcastBase),
            "relay_auth": .string(self.relayAuth),
            "tracks": .array(
                self.tracks.map {
                    [
                        "name": .string($0.name), "codec": .string($0.codec), "sample_rate": .integer($0.sampleRate),
                        "channels": .integer($0.channels), "frame_ms": .integer($0.frameMilliseconds),
                    ]
                }),
        ]
    }
}
