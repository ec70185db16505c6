/// A hypernote's text as a tree: Markdown in between, components where it has some.
///
/// Every text is one: what does not read as a component stays text, an unclosed component ends with what is around
/// it, and beyond the limits all the rest is text.
public struct HypernoteDocument: Sendable, Hashable {
    public let nodes: [HypernoteNode]

    /// Longer content is not looked into.
    public static let maximumBytes = 65_536
    /// Components within components; deeper ones are text.
    public static let maximumDepth = 32
    /// Components and pieces of text; what follows is one more piece.
    public static let maximumNodes = 2000
    /// Bytes of a tag from `<` to `>`.
    public static let maximumTagBytes = 2048

    init(nodes: [HypernoteNode]) {
        self.nodes = nodes
    }

    public init(_ content: String) {
        guard content.utf8.count <= Self.maximumBytes else {
            self.nodes = [.text(content)]
            return
        }
        var parser = HypernoteParser(content)
        self.nodes = parser.parse()
    }

    /// The actions that its buttons name, in order, each once.
    public var actions: [String] {
        var found: [String] = []
        var known: Set<String> = []
        self.visit { component in
            guard component.kind == .submitButton, let action = component.action, known.insert(action).inserted
            else { return }
            found.append(action)
        }
        return found
    }

    /// The text without its components, for a preview.
    public var plainText: String { Self.plainText(of: self.nodes) }

    private func visit(_ body: (HypernoteComponent) -> Void) {
        var rest = Array(self.nodes.reversed())
        while let node = rest.popLast() {
            guard case .component(let component) = node else { continue }
            body(component)
            rest += component.children.reversed()
        }
    }

    private static func plainText(of nodes: [HypernoteNode]) -> String {
        let pieces = nodes.map { node in
            switch node {
            case .text(let text): String(text.trimmingBlanks)
            case .component(let component): Self.plainText(of: component.children)
            }
        }
        return pieces.filter { !$0.isEmpty }.joined(separator: " ")
    }
}

public enum HypernoteNode: Sendable, Hashable {
    /// Markdown, entities resolved.
    case text(String)
    case component(HypernoteComponent)
}

public struct HypernoteComponent: Sendable, Hashable {
    /// As it is written; ``kind`` if it is one of the catalogue. Of others only the children are shown.
    public let name: String
    /// The first of a name counts.
    public let attributes: [HypernoteAttribute]
    public internal(set) var children: [HypernoteNode]

    /// The components of the catalogue.
    public enum Kind: String, Sendable, CaseIterable {
        case card = "Card"
        case verticalStack = "VStack"
        case horizontalStack = "HStack"
        case heading = "Heading"
        case body = "Body"
        case caption = "Caption"
        case textInput = "TextInput"
        case checklistItem = "ChecklistItem"
        case details = "Details"
        case summary = "Summary"
        case submitButton = "SubmitButton"
    }

    public var kind: Kind? { Kind(rawValue: self.name) }

    public subscript(attribute: String) -> HypernoteAttribute.Value? {
        self.attributes.first { $0.name == attribute }?.value
    }

    /// The action that a button names; nil without one.
    public var action: String? {
        guard case .string(let action)? = self["action"] else { return nil }
        let name = action.trimmingBlanks
        return name.isEmpty ? nil : String(name)
    }

    /// The form field that an input or a checklist item fills; nil without one.
    public var field: String? {
        guard case .string(let name)? = self["name"], !name.isEmpty else { return nil }
        return name
    }
}

public struct HypernoteAttribute: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        case string(String)
        case number(Double)
        /// An attribute without a value is true.
        case boolean(Bool)
        /// What stands between braces and is nothing of the above; nothing evaluates it.
        case expression(String)
    }

    public let name: String
    public let value: Value
}
