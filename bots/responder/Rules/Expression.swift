import Foundation

/// A regular expression (ICU's syntax) that is matched against untrusted messages.
///
/// ICU's engine backtracks, and a crafted message can keep some expressions busy forever. So a search ends after
/// ``timeLimit``, and messages longer than ``maximumLength`` are not searched at all: in both cases there is no match.
struct Expression: Sendable {
    /// The maximum length of a searched message in UTF-16 code units.
    static let maximumLength = 4_000
    static let timeLimit = Duration.milliseconds(50)

    enum Outcome: Hashable, Sendable {
        /// The match and the capture groups; empty for a group that did not participate.
        case found([String])
        case missed
        case tooLong
        case tookTooLong
    }

    let pattern: String
    // Thread-safe: NSRegularExpression is documented as immutable.
    private let expression: NSRegularExpression

    /// Throws Foundation's error for an invalid pattern.
    init(_ pattern: String) throws {
        self.pattern = pattern
        expression = try NSRegularExpression(pattern: pattern)
    }

    var groups: Int { expression.numberOfCaptureGroups }

    func search(_ text: String) -> Outcome {
        let whole = text as NSString
        guard whole.length <= Self.maximumLength else { return .tooLong }
        let deadline = ContinuousClock.now + Self.timeLimit
        var outcome = Outcome.missed
        // The engine also calls back without a result, every few thousand steps.
        expression.enumerateMatches(
            in: text, options: .reportProgress, range: NSRange(location: 0, length: whole.length)
        ) { result, _, stop in
            if let result {
                outcome = .found(Self.captures(of: result, in: whole))
                stop.pointee = true
            } else if ContinuousClock.now > deadline {
                outcome = .tookTooLong
                stop.pointee = true
            }
        }
        return outcome
    }

    private static func captures(of result: NSTextCheckingResult, in text: NSString) -> [String] {
        (0..<result.numberOfRanges).map { index in
            let range = result.range(at: index)
            return range.location == NSNotFound ? "" : text.substring(with: range)
        }
    }
}
