package import Nostr

extension JSONValue {
    /// JSON with one member or element per line, indented by two spaces.
    package var prettyText: String { pretty(indentation: "") }

    private func pretty(indentation: String) -> String {
        let inner = indentation + "  "
        switch self {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + $0.pretty(indentation: inner) }
            return "[\n" + lines.joined(separator: ",\n") + "\n\(indentation)]"
        case .object(let object) where !object.members.isEmpty:
            let lines = object.members.map { member in
                "\(inner)\(JSONValue.string(member.name).jsonText): \(member.value.pretty(indentation: inner))"
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indentation)}"
        default: return jsonText
        }
    }
}
