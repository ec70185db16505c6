import Foundation

/// A regular expression (ICU's syntax) that strangers' messages are held against.
///
/// ICU's engine goes back and tries again, and a message made for it can keep some expressions busy for ever. So a
/// search ends after ``timeLimit``, and messages longer than ``longest`` are not searched at all: either way there is
/// no match.
struct Expression: Sendable {
    /// UTF-16 code units.
    static let longest = 4_000
    static let timeLimit = Duration.milliseconds(50)

    enum Outcome: Hashable, Sendable {
        /// What was found, and the capture groups; empty for a group that took no part.
        case found([String])
        case missed
        case tooLong
        case tookTooLong
    }

    let pattern: String
    // Safe to share: documented as immutable and usable from several threads at once.
    private let expression: NSRegularExpression

    /// Throws what Foundation says about a wrong pattern.
    init(_ pattern: String) throws {
        self.pattern = pattern
        expression = try NSRegularExpression(pattern: pattern)
    }

    var groups: Int { expression.numberOfCaptureGroups }

    func search(_ text: String) -> Outcome {
        let whole = text as NSString
        guard whole.length <= Self.longest else { return .tooLong }
        let deadline = ContinuousClock.now + Self.timeLimit
        var outcome = Outcome.missed
        // The engine reports every few thousand steps, without a result then.
        expression.enumerateMatches(
            in: text, options: .reportProgress, range: NSRange(location: 0, length: whole.length)
        ) { result, _, stop in
            if let result {
                outcome = .found(Self.pieces(of: result, in: whole))
                stop.pointee = true
            } else if ContinuousClock.now > deadline {
                outcome = .tookTooLong
                stop.pointee = true
            }
        }
        return outcome
    }

    private static func pieces(of result: NSTextCheckingResult, in text: NSString) -> [String] {
        (0..<result.numberOfRanges).map { index in
            let range = result.range(at: index)
            return range.location == NSNotFound ? "" : text.substring(with: range)
        }
    }
}
