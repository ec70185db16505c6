/// Limits on a relay's messages, so that a hostile relay costs little.
enum WireLimits {
    /// Most messages per connection.
    static let mostMessages = 4_000
    static let mostBytes = 8 << 20
    /// Largest message.
    static let messageBytes = 1 << 20
    /// Maximum number of frames queued for sending.
    static let waitingFrames = 256
}
