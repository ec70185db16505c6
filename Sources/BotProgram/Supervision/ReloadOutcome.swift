import BotConfiguration
import Supervisor

/// What a reload of the configuration file has done.
struct ReloadOutcome: Sendable {
    /// Unix seconds.
    let time: Int64
    /// Whether the file was valid, and every worker concerned has applied its changes.
    let isSuccess: Bool
    var applied: [String] = []
    var waiting: [String] = []
    var refused: [String] = []
    /// The problems of an invalid file.
    let problems: [ConfigurationError.Problem]
    /// The problems in words; also those that are not about a place in the file.
    let problemTexts: [String]

    init(time: Int64, isSuccess: Bool, applied: [String], waiting: [String], refused: [String]) {
        self.time = time
        self.isSuccess = isSuccess
        self.applied = applied
        self.waiting = waiting
        self.refused = refused
        problems = []
        problemTexts = []
    }

    /// A reload that changed nothing.
    init(time: Int64, _ error: any Error) {
        self.time = time
        isSuccess = false
        problems = (error as? ConfigurationError)?.problems ?? []
        problemTexts = problems.isEmpty ? ["\(error)"] : problems.map(\.description)
    }

    /// The member `lastReload` of `status`.
    var json: ControlValue {
        var object: [String: ControlValue] = ["time": .integer(time), "success": .bool(isSuccess)]
        let texts = { (texts: [String]) in ControlValue.array(texts.map { .string($0) }) }
        if problemTexts.isEmpty {
            object["applied"] = texts(applied)
            object["waiting"] = texts(waiting)
            object["refused"] = texts(refused)
        } else {
            object["problems"] = texts(problemTexts)
        }
        return .object(object)
    }
}
