import Synchronization

/// The bot's answers and their response times.
final class DemoSummary: Sendable {
    enum Answer: CaseIterable {
        case echo, announcement, refusal

        func counted(_ count: Int) -> String {
            let plural = count == 1 ? "" : "s"
            return switch self {
            case .echo: "\(count) message\(plural) echoed"
            case .announcement: "\(count) commit\(plural) announced"
            case .refusal: "\(count) call\(plural) refused"
            }
        }
    }

    private let answers = Mutex<[(kind: Answer, latency: Duration)]>([])

    func add(_ kind: Answer, _ latency: Duration) {
        answers.withLock { $0.append((kind, latency)) }
    }

    /// Returns a one-line summary.
    func text(after total: Duration) -> String {
        answers.withLock { answers in
            let counts = Answer.allCases.map { kind in kind.counted(answers.count { $0.kind == kind }) }
            let sorted = answers.map(\.latency).sorted()
            guard let fastest = sorted.first, let slowest = sorted.last else { return "no answers" }
            let median = sorted[sorted.count / 2]
            return "Done in \(total.inSeconds): " + counts.joined(separator: ", ")
                + "; answers took \(fastest.inMilliseconds) to \(slowest.inMilliseconds),"
                + " median \(median.inMilliseconds)."
        }
    }
}
