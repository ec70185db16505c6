public import BotKit

/// A YAML file that is read as settings from its root on, such as the plan of a load test: within the same bounds, and
/// with the same places in its errors, as a configuration file.
public enum SettingsFile {
    /// Reads a file and hands what it holds to `make`, together with its text.
    ///
    /// Throws ``ConfigurationError`` with everything that is wrong with the text, or that `make` finds wrong.
    public static func read<Value>(
        path: String, _ make: (BotSettings, _ text: String) throws(BotSettingsError) -> Value
    ) throws(ConfigurationError) -> Value {
        let text = try ConfigurationFile.text(of: path)
        return try read(text, file: path, make)
    }

    /// As ``read(path:_:)``, of a text.
    ///
    /// - Parameter file: The name that errors carry.
    public static func read<Value>(
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
