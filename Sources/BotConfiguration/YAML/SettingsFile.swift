package import BotKit

/// A YAML file that consists of settings, such as the plan of a load test. It has the same limits, and the same
/// locations in errors, as a configuration file.
package enum SettingsFile {
    /// Reads a file and passes its settings to `make`, together with its text.
    ///
    /// Throws ``ConfigurationError`` with all problems of the text, or those that `make` reports.
    package static func read<Value>(
        path: String, _ make: (BotSettings, _ text: String) throws(BotSettingsError) -> Value
    ) throws(ConfigurationError) -> Value {
        let text = try ConfigurationFile.text(of: path)
        return try read(text, file: path, make)
    }

    /// Does the same as ``read(path:_:)`` for a text.
    ///
    /// - Parameter file: The file name in errors.
    package static func read<Value>(
        _ text: String, file: String, _ make: (BotSettings, _ text: String) throws(BotSettingsError) -> Value
    ) throws(ConfigurationError) -> Value {
        let problems = ConfigurationProblems(file: file)
        let settings = try ConfigurationDocument.read(text, problems).settings
        try problems.throwIfAny()
        do throws(BotSettingsError) {
            return try make(settings, text)
        } catch {
            for problem in error.problems { problems.add(problem, below: "") }
            throw problems.error
        }
    }
}
