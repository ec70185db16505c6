/// The rules for an account's incoming calls, and the defaults of its outgoing ones (docs/protocol/marmot.md §9.3).
public struct CallPolicy: Sendable, Hashable {
    /// Whether calls in groups are accepted; otherwise they are refused with `unsupported_group`.
    public var allowsGroups: Bool
    /// Whether calls with a track named `video0` are accepted; otherwise they are refused with `unsupported_video`.
    public var allowsVideo: Bool
    /// Whether calls without an audio track are accepted; otherwise they are refused with `unsupported_data`.
    public var allowsData: Bool
    /// The media relay for sessions that name none; without it such a call cannot be started.
    public var moqURL: String?
    /// The default broadcast base is this prefix, a slash and the call's id. No leading or trailing slash.
    public var broadcastPrefix: String
    /// The milliseconds after which a connected call ends with the reason `time_limit`; nil for no limit.
    public var longestMilliseconds: Int64?

    /// Creates a policy.
    public init(
        allowsGroups: Bool, allowsVideo: Bool, allowsData: Bool = true, moqURL: String? = nil,
        broadcastPrefix: String = "pika/calls", longestMilliseconds: Int64? = nil
    ) {
        self.allowsGroups = allowsGroups
        self.allowsVideo = allowsVideo
        self.allowsData = allowsData
        self.moqURL = moqURL
        self.broadcastPrefix = broadcastPrefix
        self.longestMilliseconds = longestMilliseconds
    }

    /// Every call rings, and handlers decide.
    public static let handlers = CallPolicy(allowsGroups: true, allowsVideo: true)
    /// Like a person's app: calls in direct chats only.
    public static let app = CallPolicy(allowsGroups: false, allowsVideo: true)
    /// Like Pika's daemon: in groups too, but without video.
    public static let daemon = CallPolicy(allowsGroups: true, allowsVideo: false, broadcastPrefix: "pika/pty")
}
