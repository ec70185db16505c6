import BotKit
import Nostr
import Yams

extension ConfigurationSchema {
    /// The schema as in `config/schema.json`: JSON Schema, draft 2020-12, for editors and validators.
    static var json: String { prettyJSON(.object(jsonRoot)) + "\n" }

    private static var jsonRoot: JSONObject {
        var schema: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A configuration of pikabot",
            "description": .string(
                "Made from the program (pikabot check --schema), which checks more than this can say. In YAML files, name "
                    + "it in the first line: # yaml-language-server: $schema=PATH"),
        ]
        for member in root.jsonSchema.members where member.name != "title" { schema[member.name] = member.value }
        var definitions: JSONObject = [:]
        for mapping in mappings.dropFirst() { definitions[mapping.name] = .object(mapping.jsonSchema) }
        for text in SchemaText.all { definitions[text.name] = .object(text.jsonSchema) }
        schema["$defs"] = .object(definitions)
        return schema
    }

    /// All mappings without duplicates, outer ones first.
    static var mappings: [SchemaMapping] {
        var found: [SchemaMapping] = []
        func visit(_ mapping: SchemaMapping) {
            guard !found.contains(where: { $0.name == mapping.name }) else { return }
            found.append(mapping)
            for key in mapping.keys { key.value.mappings.forEach(visit) }
        }
        visit(root)
        return found
    }
}

extension SchemaMapping {
    fileprivate var jsonSchema: JSONObject {
        var schema: JSONObject = ["title": .string(title), "type": "object"]
        var properties: JSONObject = [:]
        for key in keys { properties[key.name] = .object(key.jsonSchema) }
        schema["properties"] = .object(properties)
        let required = keys.filter { $0.absence == .refused }.map { JSONValue.string($0.name) }
        if !required.isEmpty { schema["required"] = .array(required) }
        if rule == .exactlyOne {
            schema["minProperties"] = 1
            schema["maxProperties"] = 1
        }
        schema["additionalProperties"] = false
        return schema
    }
}

extension SchemaKey {
    fileprivate var jsonSchema: JSONObject {
        var schema = value.jsonSchema
        schema["description"] = .string(summary)
        if case .standard(let text) = absence { schema["default"] = JSONValue(yaml: text) }
        if let example { schema["examples"] = .array([JSONValue(yaml: example)]) }
        return schema
    }
}

extension SchemaText {
    fileprivate var jsonSchema: JSONObject {
        // Other YAML readers may parse the text as a number or a boolean.
        let types: [JSONValue] = name == SchemaText.word.name ? ["string", "number", "boolean"] : ["string"]
        return [
            "description": .string(summary), "type": types.count == 1 ? types[0] : .array(types),
            "pattern": .string(pattern),
        ]
    }
}

extension SchemaValue {
    fileprivate var jsonSchema: JSONObject {
        switch self {
        case .text(let text): ["$ref": .string("#/$defs/\(text.name)")]
        case .boolean: ["type": "boolean"]
        case .integer(let range):
            [
                "type": "integer", "minimum": .integer(Int64(range.lowerBound)),
                "maximum": .integer(Int64(range.upperBound)),
            ]
        case .choice(let words): ["enum": .array(words.map { JSONValue(yaml: $0) })]
        case .list(of: let value, let minimum):
            minimum == 0
                ? ["type": "array", "items": .object(value.jsonSchema)]
                : ["type": "array", "items": .object(value.jsonSchema), "minItems": .integer(Int64(minimum))]
        case .mapping(let mapping): ["$ref": .string("#/$defs/\(mapping.name)")]
        case .table(of: let name, let value):
            [
                "type": "object", "propertyNames": ["$ref": .string("#/$defs/\(name.name)")],
                "additionalProperties": .object(value.jsonSchema),
            ]
        case .either(let values): ["anyOf": .array(values.map { .object($0.jsonSchema) })]
        case .settings: ["type": "object"]
        }
    }
}

extension JSONValue {
    /// Parses a short YAML text of the schema; invalid YAML is a string.
    fileprivate init(yaml text: String) {
        guard let node = try? Yams.compose(yaml: text) else {
            self = .string(text)
            return
        }
        self.init(node)
    }

    private init(_ node: Node) {
        switch node {
        case .scalar(let scalar):
            switch scalar.style == .plain ? BotSettings(plainScalar: scalar.string) : .string(scalar.string) {
            case .null: self = .null
            case .bool(let value): self = .bool(value)
            case .int(let value): self = .integer(Int64(value))
            case .double(let value): self = .number(value)
            case .string, .array, .object: self = .string(scalar.string)
            }
        case .sequence(let sequence): self = .array(sequence.map { JSONValue($0) })
        case .mapping(let mapping):
            var object: JSONObject = [:]
            for (key, value) in mapping { object[key.string ?? ""] = JSONValue(value) }
            self = .object(object)
        case .alias: self = .null
        }
    }
}

/// Formats JSON with a line for each member; values that fit into one line stay on one.
private func prettyJSON(_ value: JSONValue, indentation: String = "") -> String {
    let compact = String(decoding: value.json(), as: UTF8.self)
    let inner = indentation + "  "
    switch value {
    case .object(let object) where compact.utf8.count + indentation.count > 100:
        let members = object.members.map { member in
            let name = String(decoding: JSONValue.string(member.name).json(), as: UTF8.self)
            return "\(inner)\(name): \(prettyJSON(member.value, indentation: inner))"
        }
        return "{\n\(members.joined(separator: ",\n"))\n\(indentation)}"
    case .array(let items) where compact.utf8.count + indentation.count > 100:
        let lines = items.map { inner + prettyJSON($0, indentation: inner) }
        return "[\n\(lines.joined(separator: ",\n"))\n\(indentation)]"
    default: return compact
    }
}
