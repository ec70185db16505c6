/// How much of a relay is listened to, so that a hostile one costs little.
enum WireLimits {
    /// Of one connection.
    static let mostMessages = 4_000
    static let mostBytes = 8 << 20
    /// Largest message.
    static let messageBytes = 1 << 20
    /// Messages that wait to be sent.
    static let waitingFrames = 256
}
