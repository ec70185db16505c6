import Foundation
import Synchronization

/// Whole lines for people, written at once even into a pipe.
enum Console {
    private static let lock = Mutex(())

    static func print(_ line: String) { write(line + "\n", to: .standardOutput) }

    /// As ``print(_:)``; throws when nobody reads any more.
    static func deliver(_ line: String) throws {
        try lock.withLock { _ in try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
    }

    static func printError(_ line: String) { write(line + "\n", to: .standardError) }

    /// Writes a text that ends in a line end already.
    static func printText(_ text: String) { write(text, to: .standardOutput) }

    private static func write(_ text: String, to handle: FileHandle) {
        // Nobody is left to tell when the reader has gone.
        lock.withLock { _ in try? handle.write(contentsOf: Data(text.utf8)) }
    }
}

extension Duration {
    /// `0.42 s`.
    var inSeconds: String { String(format: "%.2f s", self / .seconds(1)) }

    /// `42 ms`, or `4.2 ms` below ten.
    var inMilliseconds: String {
        let value = self / .milliseconds(1)
        return String(format: value < 10 ? "%.1f ms" : "%.0f ms", value)
    }
}
