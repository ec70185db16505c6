import BotConfiguration
import ConsolePages
import ConsoleServer
import Foundation
import Supervisor

/// A part of a worker's report, with the type of its answer.
struct WorkerReport<Answer: Decodable & Sendable>: Sendable {
    let part: String
    var parameters: [String: ControlValue] = [:]
}

extension Supervisor {
    /// Asks a worker for a part of its report.
    func report<Answer>(
        _ report: WorkerReport<Answer>, of account: String
    ) async throws(SupervisorError) -> Answer {
        var parameters = report.parameters
        parameters["part"] = .string(report.part)
        let answer = try await ask(account, "console", parameters, within: ConsoleCollector.patience)
        return try Self.decoded(answer, from: account)
    }

    static func decoded<Answer: Decodable>(
        _ answer: Data, from account: String
    ) throws(SupervisorError) -> Answer {
        do { return try JSONDecoder().decode(Answer.self, from: answer) } catch {
            throw SupervisorError(.refused, "\(account) gave an answer of another version")
        }
    }
}

extension FileProblem {
    init(_ problem: ConfigurationError.Problem) {
        self.init(
            line: problem.line, column: problem.column, path: problem.keyPath, expected: problem.expected,
            found: problem.found, fix: problem.fix)
    }
}

extension ConfigurationPage.Preview {
    init(_ changes: [ConfigurationChange]) {
        self = .changes(
            changes.map { ConfigurationPage.Change(path: $0.path, old: $0.old, new: $0.new, effect: $0.consequence) })
    }

    init(_ error: ConfigurationError) { self = .problems(error.problems.map(FileProblem.init)) }
}
