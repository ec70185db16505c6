import Foundation
import Testing

/// A condition did not become true before the deadline.
public struct ConditionTimedOut: Error, CustomStringConvertible {
    public let description: String
}

/// Waits until a condition holds, polling every few milliseconds.
///
/// - Parameter what: the awaited condition, for the error.
/// - Throws: ``ConditionTimedOut`` at the deadline, and any error of the condition.
public func eventually(
    _ what: String, within deadline: Duration = .seconds(60), isolation: isolated (any Actor)? = #isolation,
    _ condition: () async throws -> Bool
) async throws {
    let clock = ContinuousClock()
    let end = clock.now + deadline
    while try await !condition() {
        guard clock.now < end else {
            throw ConditionTimedOut(description: "timed out after \(deadline) waiting for: \(what)")
        }
        try await Task.sleep(for: .milliseconds(3))
    }
}

/// Waits until a process has ended. A killed process ends with a delay; a zombie counts as ended.
public func processEnds(_ process: Int32) async throws {
    try await eventually("process \(process) ends") {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return true }
        return ["Z", "X"].contains(status.split(separator: " ").dropFirst(2).first)
    }
}
