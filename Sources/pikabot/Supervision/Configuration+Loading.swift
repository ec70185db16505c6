import ArgumentParser
import BotRuntime

extension Configuration {
    /// Loads a file for a command: what is wrong goes to standard error, a line each, and the command ends with
    /// ``ArgumentParser/ExitCode/wrongConfiguration``.
    static func loadOrExit(_ path: String) throws -> Configuration {
        do {
            return try load(path: path, knownBots: BotRegistry.included.names)
        } catch {
            for problem in error.problems { Console.printError("error: \(problem)") }
            throw ExitCode.wrongConfiguration
        }
    }
}
