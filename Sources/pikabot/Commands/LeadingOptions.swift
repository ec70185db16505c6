/// Options that stand before the command, as `pikabot --state-dir DIR groups`.
enum LeadingOptions {
    private static let withValue: Set<String> = ["--state-dir", "--relay", "--kp-relay"]
    private static let flags: Set<String> = ["--remote", "--json", "--table"]

    /// The same arguments with those options behind the command and its own words, where the parser expects them.
    static func moved(_ arguments: [String]) -> [String] {
        var leading: [String] = []
        var rest = arguments[...]
        while let argument = rest.first {
            let name = argument.prefix { $0 != "=" }
            if flags.contains(argument) || (name.count < argument.count && withValue.contains(String(name))) {
                leading.append(rest.removeFirst())
            } else if withValue.contains(argument), rest.count > 1 {
                leading += rest.prefix(2)
                rest = rest.dropFirst(2)
            } else {
                break
            }
        }
        let words = rest.prefix { !$0.hasPrefix("-") }
        guard !words.isEmpty else { return arguments }
        return words + leading + rest.dropFirst(words.count)
    }
}
