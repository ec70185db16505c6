/// Limits on a relay's messages, so that a hostile relay costs little.
enum WireLimits {
    /// Maximum number of messages per connection.
    static let maximumMessages = 4_000
    static let maximumBytes = 8 << 20
    /// Maximum size of a message in bytes.
    static let messageBytes = 1 << 20
    /// Maximum number of frames queued for sending.
    static let waitingFrames = 256
}
