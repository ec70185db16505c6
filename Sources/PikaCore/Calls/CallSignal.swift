import Nostr

/// A call's media session as described by the invite (docs/protocol/marmot.md §9.1).
public struct CallSession: Sendable, Hashable {
    /// A media track of a session; texts have at most 64 bytes of UTF-8.
    public struct Track: Sendable, Hashable {
        /// The track's name, such as `audio0`.
        public var name: String
        /// The codec's name, such as `opus`.
        public var codec: String
        /// Samples or clock ticks per second, at most 1,000,000.
        public var sampleRate: Int64
        /// The number of audio channels, at most 16; 0 for video.
        public var channels: Int64
        /// The duration of a frame in milliseconds, at most 60,000.
        public var frameMilliseconds: Int64

        /// Creates a track; checks no limits.
        public init(name: String, codec: String, sampleRate: Int64, channels: Int64, frameMilliseconds: Int64) {
            self.name = name
            self.codec = codec
            self.sampleRate = sampleRate
            self.channels = channels
            self.frameMilliseconds = frameMilliseconds
        }

        /// One channel of Opus at 48 kHz in frames of 20 ms.
        public static let audio = Track(
            name: "audio0", codec: "opus", sampleRate: 48_000, channels: 1, frameMilliseconds: 20)
        /// H.264 with a clock of 90 kHz in frames of 33 ms.
        public static let video = Track(
            name: "video0", codec: "h264", sampleRate: 90_000, channels: 0, frameMilliseconds: 33)
        /// The track in the daemon's invitations, unless configured otherwise.
        public static let data = Track(
            name: "pty0", codec: "bytes", sampleRate: 1, channels: 1, frameMilliseconds: 1)

        /// Whether it is an audio track: Pika recognises them by codec and shape, whatever the track's name.
        public var isAudio: Bool {
            self.codec.lowercased() == "opus" && self.channels > 0 && self.sampleRate > 0
        }
        /// Whether it is a video track: Pika recognises them by the track's name.
        public var isVideo: Bool { self.name == "video0" }
    }

    /// The URL of the media relay, as text.
    public var moqURL: String
    /// The base of both sides' broadcast paths, without a leading or trailing slash.
    public var broadcastBase: String
    /// `capv1_` and 64 hex digits; empty until the core has derived it from the group's epoch.
    public var relayAuth: String
    /// The media tracks, at most ``maximumTracks``.
    public var tracks: [Track]

    /// Creates a session; checks no limits.
    public init(moqURL: String, broadcastBase: String, relayAuth: String = "", tracks: [Track]) {
        self.moqURL = moqURL
        self.broadcastBase = broadcastBase
        self.relayAuth = relayAuth
        self.tracks = tracks
    }

    /// The maximum number of tracks; a session with more is invalid.
    public static let maximumTracks = 16
    /// The maximum size in bytes of an address, a path or a token in a session; track and codec names have at most 64.
    public static let maximumTextBytes = 2_048
    static let maximumNameBytes = 64
    /// Limits of sample rate, channels and frame milliseconds: above those of any audio, video or data track.
    static let maximumRate: Int64 = 1_000_000
    static let maximumChannels: Int64 = 16
    static let maximumFrame: Int64 = 60_000

    /// Whether a track is an audio track.
    public var hasAudio: Bool { self.tracks.contains(where: \.isAudio) }
    /// Whether a track is a video track.
    public var hasVideo: Bool { self.tracks.contains(where: \.isVideo) }
}

/// Hides the token, which is for the two sides of the call only.
extension CallSession: CustomStringConvertible, CustomReflectable {
    /// The media relay and the names of the tracks.
    public var description: String { "call session at \(self.moqURL) with \(self.tracks.map(\.name))" }
    /// A mirror without the token.
    public var customMirror: Mirror { Mirror(self, children: ["moqURL": self.moqURL, "tracks": self.tracks]) }
}

/// An inner event of kind 10 (docs/protocol/marmot.md §9.1).
public struct CallSignal: Sendable, Hashable {
    /// The type of a signal, with its content.
    public enum Body: Sendable, Hashable {
        /// Invites to a call.
        case invite(CallSession)
        /// Accepts a call; repeats the invite's session.
        case accept(CallSession)
        /// Rejects a call.
        case reject(reason: String)
        /// Ends a call.
        case end(reason: String)
    }

    /// The call's id, usually a UUID as text.
    public var callID: String
    /// The sender's clock, Unix milliseconds.
    public var timestampMilliseconds: Int64
    /// The signal's type and content.
    public var body: Body

    /// Creates a signal; checks no limits.
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
    /// Parses a signal; nil for malformed content, or for a version or namespace to be ignored.
    public init?(content: String) {
        guard let json = try? JSONValue(json: content), json["v"]?.integer == 1, json["ns"]?.string == "pika.call",
            let type = json["type"]?.string, let callID = json["call_id"]?.string,
            (1...Self.maximumCallIDBytes).contains(callID.utf8.count), let timestamp = json["ts_ms"]?.integer,
            let body = json["body"]
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
            self.body = .reject(reason: Self.capped(reason))
        case "call.end":
            guard let reason = body["reason"]?.string else { return nil }
            self.body = .end(reason: Self.capped(reason))
        default: return nil
        }
    }

    /// The maximum size of a call id in bytes; a UUID has 36. Call ids are shown, stored and used in key derivation.
    public static let maximumCallIDBytes = 64

    /// The maximum number of scalars kept of a reason, because it is the sender's free text, and is shown and logged.
    public static let maximumReasonLength = 100

    /// Truncates and sanitizes a reason for display.
    static func capped(_ reason: String) -> String { DisplayText.reason(reason, limit: self.maximumReasonLength) }

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
        guard tracks.count <= Self.maximumTracks,
            [moqURL, base, auth].allSatisfy({ $0.utf8.count <= Self.maximumTextBytes })
        else { return nil }
        self.moqURL = moqURL
        self.broadcastBase = base
        self.relayAuth = auth
        self.tracks = []
        for track in tracks {
            guard let name = track["name"]?.string, let codec = track["codec"]?.string,
                let rate = track["sample_rate"]?.integer, let channels = track["channels"]?.integer,
                let frame = track["frame_ms"]?.integer,
                max(name.utf8.count, codec.utf8.count) <= Self.maximumNameBytes,
                (0...Self.maximumRate).contains(rate), (0...Self.maximumChannels).contains(channels),
                (0...Self.maximumFrame).contains(frame)
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
