import Errors
import Foundation
import Marmot
import Nostr
import Testing

/// Outcomes of events, counted by reason.
struct Tally {
    private(set) var counts: [String: Int] = [:]

    var total: Int { self.counts.values.reduce(0, +) }

    /// The number of outcomes without one of these labels.
    func count(without labels: Set<String>) -> Int {
        self.counts.reduce(0) { labels.contains($1.key) ? $0 : $0 + $1.value }
    }

    mutating func add(_ label: String) { self.counts[label, default: 0] += 1 }

    /// Counts a disposition; a refusal must have a reason.
    mutating func add(_ disposition: Disposition) {
        if case .refused(let refusal) = disposition {
            #expect(!refusal.reason.isEmpty && !refusal.detail.isEmpty && refusal.reason != "unexpected")
        }
        self.add(disposition.label)
    }

    /// Counts the label that `body` returns, or the reason of its error; only this project's errors have reasons.
    mutating func add(_ body: () throws -> String) {
        do {
            self.add(try body())
        } catch let error as MarmotError {
            #expect(!error.code.description.isEmpty && !error.message.isEmpty)
            self.add("refused/\(error.code)")
        } catch let error as NostrError {
            #expect(!error.code.description.isEmpty && !error.message.isEmpty)
            self.add("refused/\(error.code)")
        } catch {
            Issue.record("unexpected error \(error)")
        }
    }

    /// Prints the reasons if `SHOW_REASONS` is set.
    func show(_ title: String) {
        guard ProcessInfo.processInfo.environment["SHOW_REASONS"] != nil else { return }
        let lines = self.counts.sorted { $0.value > $1.value }.map { "  \($0.value) \($0.key)" }
        print(([title] + lines).joined(separator: "\n"))
    }
}
