@testable import BotConfiguration

/// A place in the file according to the schema: the mappings on the path, and the key.
struct SchemaPlace: CustomStringConvertible {
    var steps: [(mapping: SchemaMapping, key: SchemaKey)]

    var key: SchemaKey { steps[steps.count - 1].key }
    var description: String { steps.map(\.key.name).joined(separator: ".") }

    /// The key path in problems, in a file with one element in each list.
    var keyPath: String {
        steps.enumerated().map { index, step in
            if case .list = step.key.value, index < steps.count - 1 { "\(step.key.name)[0]" } else { step.key.name }
        }.joined(separator: ".")
    }

    /// Every key of every mapping, at every allowed place.
    static let all: [SchemaPlace] = {
        var found: [SchemaPlace] = []
        func visit(_ mapping: SchemaMapping, _ steps: [(mapping: SchemaMapping, key: SchemaKey)]) {
            for key in mapping.keys {
                let place = SchemaPlace(steps: steps + [(mapping, key)])
                found.append(place)
                // A table's keys are user-defined, so its values have no fixed place.
                if case .table = key.value { continue }
                for inner in key.value.mappings { visit(inner, place.steps) }
            }
        }
        visit(ConfigurationSchema.root, [])
        return found
    }()

    /// Returns a file with this value at this place, and otherwise only required keys. Nil omits the key.
    func file(with text: String?) -> String { Self.mapping(ConfigurationSchema.root, steps[...], text) }

    private static func mapping(
        _ mapping: SchemaMapping, _ steps: ArraySlice<(mapping: SchemaMapping, key: SchemaKey)>, _ text: String?
    ) -> String {
        let own = steps.first
        var members: [String] = []
        for key in mapping.keys {
            if key.name == own?.key.name {
                guard steps.count > 1 else {
                    if let text { members.append("\(key.name): \(text)") }
                    continue
                }
                let rest = steps.dropFirst()
                guard let next = rest.first else { continue }
                members.append("\(key.name): \(wrapped(key.value, Self.mapping(next.mapping, rest, text)))")
            } else if own?.key.name == "from", key.name == "accept" {
                members.append("accept: \(text == nil ? "nobody" : "allowlist")")
            } else if key.absence == .refused {
                members.append("\(key.name): \(example(of: key))")
            }
        }
        if mapping.rule == .exactlyOne, own == nil {
            members = ["\(mapping.keys[0].name): \(example(of: mapping.keys[0]))"]
        }
        return "{ \(members.joined(separator: ", ")) }"
    }

    private static func example(of key: SchemaKey) -> String {
        if let example = key.example { return example }
        return wrapped(key.value, key.value.mappings.first.map { mapping($0, [], nil) } ?? "{}")
    }

    private static func wrapped(_ value: SchemaValue, _ text: String) -> String {
        if case .list = value { "[\(text)]" } else { text }
    }
}
