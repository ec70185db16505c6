import Foundation
import Synchronization

/// Whole lines for people, written at once even into a pipe.
package enum Console {
    private static let lock = Mutex(())

    package static func print(_ line: String) { write(line + "\n", to: .standardOutput) }

    /// As ``print(_:)``; throws when nobody reads any more.
    package static func deliver(_ line: String) throws {
        try lock.withLock { _ in try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8)) }
    }

    package static func printError(_ line: String) { write(line + "\n", to: .standardError) }

    /// Writes a text that ends in a line end already.
    package static func printText(_ text: String) { write(text, to: .standardOutput) }

    private static func write(_ text: String, to handle: FileHandle) {
        // Nobody is left to tell when the reader has gone.
        lock.withLock { _ in try? handle.write(contentsOf: Data(text.utf8)) }
    }
}
