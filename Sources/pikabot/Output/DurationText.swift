import Foundation

extension Duration {
    /// `0.42 s`.
    var inSeconds: String { String(format: "%.2f s", self / .seconds(1)) }

    /// `42 ms`, or `4.2 ms` below ten.
    var inMilliseconds: String {
        let value = self / .milliseconds(1)
        return String(format: value < 10 ? "%.1f ms" : "%.0f ms", value)
    }
}
