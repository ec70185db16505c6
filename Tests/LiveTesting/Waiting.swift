import Foundation
import Testing

/// A condition did not hold in time.
public struct NeverHeld: Error, CustomStringConvertible {
    public let description: String
}

/// Waits until a condition holds, asking every few milliseconds.
///
/// - Parameter what: what is waited for, for the error.
/// - Throws: ``NeverHeld`` at the deadline, and what the condition throws.
public func eventually(
    _ what: String, within deadline: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + deadline
    while try await !condition() {
        guard clock.now < end else { throw NeverHeld(description: "waited \(deadline) in vain: \(what)") }
        try await Task.sleep(for: .milliseconds(3))
    }
}

/// Waits until a process has ended. A killed process takes a moment to go; one that nobody has reaped yet counts as gone.
public func processEnds(_ process: Int32) async throws {
    try await eventually("process \(process) ends") {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return ["Z", "X"].contains(status.split(separator: " ").dropFirst(2).first)
    }
}
