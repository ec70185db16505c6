/// Result of one check.
package struct Finding: Hashable, Sendable {
    package enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        case ok, warning, error

        package static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .ok: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    package let level: Level
    /// The checked object, such as `relay wss://relay.example`.
    package let subject: String
    /// The check's name, such as `tcp`.
    package let check: String
    /// A sentence; never holds a secret.
    package let text: String
    /// Recommended fix; nil if there is no problem.
    package let advice: String?

    package init(_ level: Level, subject: String, check: String, _ text: String, advice: String? = nil) {
        self.level = level
        self.subject = subject
        self.check = check
        self.text = text
        self.advice = advice
    }
}

/// Findings about one subject, in order.
package struct FindingList: Sendable {
    package let subject: String
    package private(set) var all: [Finding] = []

    package init(_ subject: String) { self.subject = subject }

    package mutating func ok(_ check: String, _ text: String) {
        all.append(Finding(.ok, subject: subject, check: check, text))
    }

    package mutating func warning(_ check: String, _ text: String, _ advice: String) {
        all.append(Finding(.warning, subject: subject, check: check, text, advice: advice))
    }

    package mutating func error(_ check: String, _ text: String, _ advice: String) {
        all.append(Finding(.error, subject: subject, check: check, text, advice: advice))
    }
}
