import ArgumentParser
package import BotConfiguration

extension Configuration {
    /// Loads a file for a command. If it is invalid, prints the problems to standard error, one per line, and ends the
    /// command with ``ArgumentParser/ExitCode/wrongConfiguration``.
    package static func loadOrExit(_ path: String) throws -> Configuration {
        try ConfigurationFile.loadOrExit(path).configuration
    }
}

extension ConfigurationFile {
    /// Does the same and keeps the locations of all values.
    ///
    /// - Parameter placement: The part of the file that this process runs.
    /// - Parameter environment: If given, missing targets of references are problems, too.
    package static func loadOrExit(
        _ path: String, placement: Placement = Placement(), requiring environment: [String: String]? = nil
    ) throws -> ConfigurationFile {
        do throws(ConfigurationError) {
            let file = placement.applied(to: try ConfigurationFile(path: path, registry: BotProgram.registry))
            if let environment { try file.requireReferences(environment: environment) }
            return file
        } catch {
            for problem in error.problems { Console.printError("error: \(problem)") }
            throw ExitCode.wrongConfiguration
        }
    }
}
