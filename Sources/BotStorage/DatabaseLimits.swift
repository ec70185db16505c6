/// Limits of the bots' database files.
package struct DatabaseLimits: Hashable, Sendable {
    /// The size of each file in bytes.
    package var bytes: Int
    /// The time of each transaction or query; nil runs them on the calling thread without a limit, for tests.
    package var timeout: Duration?
    /// The most files of one bot.
    package var files = 8
    /// The most rows that a query returns.
    package var rows = 10_000
    /// The most bytes that a query returns.
    package var resultBytes = 8 << 20

    package init(bytes: Int = 256 << 20, timeout: Duration? = .seconds(5)) {
        self.bytes = bytes
        self.timeout = timeout
    }
}
