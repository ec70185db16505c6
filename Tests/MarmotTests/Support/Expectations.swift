import Errors
import Marmot
import Nostr
import Testing

/// Expects `body` to throw a ``MarmotError`` with this code, and `text` in its message.
func expectError(
    _ code: MarmotError.Code, _ text: String = "", sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
) {
    do {
        try body()
        Issue.record("expected error \(code), found none", sourceLocation: sourceLocation)
    } catch let error as MarmotError {
        #expect(error.code.description == code.description, "\(error)", sourceLocation: sourceLocation)
        #expect(text.isEmpty || error.message.contains(text), "\(error)", sourceLocation: sourceLocation)
    } catch {
        Issue.record("expected a MarmotError, found \(error)", sourceLocation: sourceLocation)
    }
}

extension Disposition {
    /// The disposition in one word, with its reason: `message`, `waiting/no_key`, `refused/not_admin`.
    var label: String {
        switch self {
        case .message: "message"
        case .commit: "commit"
        case .proposal(let report): "proposal/\(report.effect.rawValue)"
        case .ownCommit: "ownCommit"
        case .ownEcho: "ownEcho"
        case .otherCopy: "otherCopy"
        case .waiting(let reason): "waiting/\(reason.rawValue)"
        case .refused(let refusal): "refused/\(refusal.reason)"
        }
    }

    var message: ReceivedMessage? {
        if case .message(let message) = self { message } else { nil }
    }

    var report: CommitReport? {
        if case .commit(let report) = self { report } else { nil }
    }
}

/// Swift Testing has a type of that name too.
typealias Tag = Nostr.Tag
