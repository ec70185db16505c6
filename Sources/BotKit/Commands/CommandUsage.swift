/// The usage of a command.
package struct CommandUsage: Sendable, Hashable {
    package let name: String
    package let prefix: String
    /// The declared arguments; nil if the command accepts any words.
    package let arguments: [CommandArgument]?
    package let help: String?

    /// The usage line, such as `/roll <count> [die]`.
    package var line: String {
        ([prefix + name] + (arguments ?? []).map(\.usage)).joined(separator: " ")
    }

    /// Parses the declared arguments of a command, or returns the reply to a wrong usage.
    func parse(_ command: Command) -> Result<Command, CommandUsageError> {
        guard let arguments else { return .success(command) }
        var command = command
        var words = CommandWords(command.text[...])
        for argument in arguments {
            let written = argument.kind == .rest ? String(words.rest) : nil
            guard let word = written.map({ $0.isEmpty ? nil : $0 }) ?? words.next() else {
                if argument.isOptional { break }
                return .failure(misuse("\(argument.name) is missing"))
            }
            guard let value = argument.parse(word) else {
                return .failure(misuse("\(argument.name) must be \(argument.expectation)"))
            }
            command.values[argument.name] = value
            if argument.kind == .rest { return .success(command) }
        }
        guard words.rest.isEmpty else { return .failure(misuse("too many arguments")) }
        return .success(command)
    }

    private func misuse(_ reason: String) -> CommandUsageError { CommandUsageError(text: "\(reason)\nUsage: \(line)") }
}

struct CommandUsageError: Error, Sendable, Hashable {
    let text: String
}
