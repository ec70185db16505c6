/// Result of one check.
public struct Finding: Hashable, Sendable {
    public enum Level: String, Hashable, Sendable, Comparable, CaseIterable {
        case ok, warning, error

        public static func < (left: Level, right: Level) -> Bool { left.rank < right.rank }

        private var rank: Int {
            switch self {
            case .ok: 0
            case .warning: 1
            case .error: 2
            }
        }
    }

    public let level: Level
    /// What was checked, such as `relay wss://relay.example`.
    public let subject: String
    /// The check's name, such as `tcp`.
    public let check: String
    /// A sentence; never holds a secret.
    public let text: String
    /// Recommended fix; nil if there is no problem.
    public let advice: String?

    public init(_ level: Level, subject: String, check: String, _ text: String, advice: String? = nil) {
        self.level = level
        self.subject = subject
        self.check = check
        self.text = text
        self.advice = advice
    }
}

/// Findings about one subject, in order.
public struct FindingList: Sendable {
    public let subject: String
    public private(set) var all: [Finding] = []

    public init(_ subject: String) { self.subject = subject }

    public mutating func ok(_ check: String, _ text: String) {
        all.append(Finding(.ok, subject: subject, check: check, text))
    }

    public mutating func warning(_ check: String, _ text: String, _ advice: String) {
        all.append(Finding(.warning, subject: subject, check: check, text, advice: advice))
    }

    public mutating func error(_ check: String, _ text: String, _ advice: String) {
        all.append(Finding(.error, subject: subject, check: check, text, advice: advice))
    }
}
