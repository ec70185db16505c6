import ArgumentParser
package import BotRuntime

extension Configuration {
    /// Loads a file for a command: what is wrong goes to standard error, a line each, and the command ends with
    /// ``ArgumentParser/ExitCode/wrongConfiguration``.
    package static func loadOrExit(_ path: String) throws -> Configuration {
        try ConfigurationFile.loadOrExit(path).configuration
    }
}

extension ConfigurationFile {
    /// The same with the places of everything.
    ///
    /// - Parameter placement: What of the file is wanted.
    /// - Parameter environment: If given, what is missing around the file is wrong too.
    package static func loadOrExit(
        _ path: String, placement: Placement = Placement(), requiring environment: [String: String]? = nil
    ) throws -> ConfigurationFile {
        do throws(ConfigurationError) {
            let file = placement.applied(to: try ConfigurationFile(path: path, registry: BotProgram.registry))
            if let environment { try file.requireSurroundings(environment: environment) }
            return file
        } catch {
            for problem in error.problems { Console.printError("error: \(problem)") }
            throw ExitCode.wrongConfiguration
        }
    }
}
