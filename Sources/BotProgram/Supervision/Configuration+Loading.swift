import ArgumentParser
package import BotRuntime

extension Configuration {
    /// Loads a file for a command: what is wrong goes to standard error, a line each, and the command ends with
    /// ``ArgumentParser/ExitCode/wrongConfiguration``.
    package static func loadOrExit(_ path: String) throws -> Configuration {
        do {
            return try load(path: path, registry: BotProgram.registry)
        } catch {
            for problem in error.problems { Console.printError("error: \(problem)") }
            throw ExitCode.wrongConfiguration
        }
    }
}
