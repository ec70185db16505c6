/// Which calls ring at an account, and how those that it starts are made (wire §8.1).
public struct CallPolicy: Sendable, Hashable {
    /// Whether calls in groups are taken; those of others are refused with `unsupported_group`.
    public var allowsGroups: Bool
    /// Whether calls with a track named `video0` are taken; others are refused with `unsupported_video`.
    public var allowsVideo: Bool
    /// Whether calls without an audio track are taken; others are refused with `unsupported_data`.
    public var allowsData: Bool
    /// The media relay of calls whose session names none; without one such a call cannot be started.
    public var moqURL: String?
    /// What the call's id is appended to, without a leading or trailing slash, if the session has no broadcast base.
    public var broadcastPrefix: String

    public init(
        allowsGroups: Bool, allowsVideo: Bool, allowsData: Bool = true, moqURL: String? = nil,
        broadcastPrefix: String = "pika/calls"
    ) {
        self.allowsGroups = allowsGroups
        self.allowsVideo = allowsVideo
        self.allowsData = allowsData
        self.moqURL = moqURL
        self.broadcastPrefix = broadcastPrefix
    }

    /// Every call rings: handlers decide.
    public static let handlers = CallPolicy(allowsGroups: true, allowsVideo: true)
    /// As a person's app: with one other person only.
    public static let app = CallPolicy(allowsGroups: false, allowsVideo: true)
    /// As Pika's daemon: in groups too, never with video.
    public static let daemon = CallPolicy(allowsGroups: true, allowsVideo: false, broadcastPrefix: "pika/pty")
}
