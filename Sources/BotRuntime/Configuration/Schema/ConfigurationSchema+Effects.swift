extension ConfigurationSchema {
    /// What a change at a place of the file needs, by the key there, or else by the nearest above it that says so.
    ///
    /// - Parameter keys: Names from the root on, such as `accounts`, `invites`, `accept`.
    static func effect(of keys: [String]) -> ConfigurationChange.Effect? {
        var mappings = [root]
        var effect: ConfigurationChange.Effect?
        for name in keys {
            guard let key = mappings.lazy.compactMap({ $0[name] }).first else { return effect }
            effect = key.effect ?? effect
            mappings = key.value.mappings
        }
        return effect
    }
}

extension SchemaValue {
    /// The mappings that may stand here, or in the lists and tables that do.
    var mappings: [SchemaMapping] {
        switch self {
        case .mapping(let mapping): [mapping]
        case .list(of: let value, atLeast: _), .table(of: _, let value): value.mappings
        case .either(let values): values.flatMap(\.mappings)
        case .text, .boolean, .integer, .choice, .settings: []
        }
    }
}
