package import ArgumentParser

/// Options that are allowed before the subcommand, as in `pikabot --state-dir DIR groups`.
package struct LeadingOptions: Sendable {
    private let withValue: Set<String>
    private let flags: Set<String>

    package static let none = LeadingOptions(withValue: [], flags: [])

    package init(withValue: Set<String>, flags: Set<String>) {
        self.withValue = withValue
        self.flags = flags
    }

    /// Returns the arguments with these options moved behind the subcommand, where the parser expects them.
    ///
    /// Throws `ValidationError` for a word that is not a subcommand, and for options without a subcommand.
    package func moved(_ arguments: [String], in root: any ParsableCommand.Type) throws -> [String] {
        var command = root
        var path: [String] = []
        var leading: [String] = []
        var rest = arguments[...]
        while let argument = rest.first {
            if let count = optionLength(rest) {
                guard rest.count >= count else { throw ValidationError("\(argument): expected a value, found none") }
                leading += rest.prefix(count)
                rest = rest.dropFirst(count)
                continue
            }
            let subcommands = command.configuration.subcommands
            guard !argument.hasPrefix("-"), !subcommands.isEmpty else { break }
            if path.isEmpty, argument == "help" { return Array(rest) }
            guard let next = subcommands.first(where: { $0.isNamed(argument) }) else {
                let name = ([root._commandName] + path).joined(separator: " ")
                throw ValidationError("unknown subcommand \"\(argument)\"; `\(name) --help` lists the subcommands")
            }
            command = next
            path.append(argument)
            rest = rest.dropFirst()
        }
        guard path.isEmpty, !leading.isEmpty else { return path + leading + rest }
        // For example --help.
        guard rest.isEmpty else { return Array(rest) }
        throw ValidationError("\(leading[0]): expected a subcommand after it, found none")
    }

    /// Returns the number of arguments that the first option consists of; nil if it is not one of these options.
    private func optionLength(_ arguments: ArraySlice<String>) -> Int? {
        guard let argument = arguments.first else { return nil }
        if flags.contains(argument) { return 1 }
        if withValue.contains(argument) { return 2 }
        let name = argument.prefix { $0 != "=" }
        return name.count < argument.count && withValue.contains(String(name)) ? 1 : nil
    }
}

extension ParsableCommand {
    fileprivate static func isNamed(_ word: String) -> Bool {
        _commandName == word || configuration.aliases.contains(word)
    }
}
