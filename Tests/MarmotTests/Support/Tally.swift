import Foundation
import Marmot
import Nostr
import Testing

/// What became of events, by reason.
struct Tally {
    private(set) var counts: [String: Int] = [:]

    var total: Int { self.counts.values.reduce(0, +) }

    /// All that was refused, and did not have one of these labels.
    func count(without labels: Set<String>) -> Int {
        self.counts.reduce(0) { labels.contains($1.key) ? $0 : $0 + $1.value }
    }

    mutating func add(_ label: String) { self.counts[label, default: 0] += 1 }

    /// Counts a disposition, and expects that a refusal says why.
    mutating func add(_ disposition: Disposition) {
        if case .refused(let refusal) = disposition {
            #expect(!refusal.reason.isEmpty && !refusal.detail.isEmpty && refusal.reason != "unexpected")
        }
        self.add(disposition.label)
    }

    /// Counts what `body` says it did, or the reason for which it threw; only this project's errors are reasons.
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
