extension ConfigurationSchema {
    /// Returns the effect of a change: that of the key itself, or of the nearest key above it that declares one.
    ///
    /// - Parameter keys: Names from the root, such as `accounts`, `invites`, `accept`.
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
    /// The mappings that this value allows, directly or as elements of lists and tables.
    var mappings: [SchemaMapping] {
        switch self {
        case .mapping(let mapping): [mapping]
        case .list(of: let value, atLeast: _), .table(of: _, let value): value.mappings
        case .either(let values): values.flatMap(\.mappings)
        case .text, .boolean, .integer, .choice, .settings: []
        }
    }
}
