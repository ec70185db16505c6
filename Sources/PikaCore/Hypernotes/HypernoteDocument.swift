/// A hypernote's text as a tree of Markdown and components.
///
/// Every text is valid: text that is not a well-formed component stays text, an unclosed component ends with its
/// parent, and the rest of a document beyond the limits is text.
public struct HypernoteDocument: Sendable, Hashable {
    /// The top-level text and components, in order.
    public let nodes: [HypernoteNode]

    /// The maximum size of the content in bytes; longer content is not parsed.
    public static let maximumBytes = 65_536
    /// The maximum nesting of components; deeper ones are text.
    public static let maximumDepth = 32
    /// The maximum number of components and pieces of text; the rest becomes one more piece.
    public static let maximumNodes = 2000
    /// The maximum size in bytes of a tag from `<` to `>`.
    public static let maximumTagBytes = 2048

    init(nodes: [HypernoteNode]) {
        self.nodes = nodes
    }

    /// Parses a hypernote's content; content beyond ``maximumBytes`` becomes one text node.
    public init(_ content: String) {
        guard content.utf8.count <= Self.maximumBytes else {
            self.nodes = [.text(content)]
            return
        }
        var parser = HypernoteParser(content)
        self.nodes = parser.parse()
    }

    /// The actions that its buttons name, in order, without duplicates.
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

    /// The text without components, for a preview.
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

/// A node of a hypernote's tree.
public enum HypernoteNode: Sendable, Hashable {
    /// Markdown, with entities resolved.
    case text(String)
    /// A component with its attributes and children.
    case component(HypernoteComponent)
}

/// A component as written in a hypernote: `<Name attribute="value">children</Name>`.
public struct HypernoteComponent: Sendable, Hashable {
    /// The name as written. Readers show only the children of components that are not in the catalogue (``kind``).
    public let name: String
    /// The attributes as written; the first one of each name counts.
    public let attributes: [HypernoteAttribute]
    /// The text and components inside, in order.
    public internal(set) var children: [HypernoteNode]

    /// The components of the catalogue.
    public enum Kind: String, Sendable, CaseIterable {
        /// A frame around its children.
        case card = "Card"
        /// Arranges its children vertically.
        case verticalStack = "VStack"
        /// Arranges its children horizontally.
        case horizontalStack = "HStack"
        /// A headline.
        case heading = "Heading"
        /// Body text.
        case body = "Body"
        /// Small, less important text.
        case caption = "Caption"
        /// A single-line text field.
        case textInput = "TextInput"
        /// A checkbox with a label.
        case checklistItem = "ChecklistItem"
        /// Children that the reader can expand.
        case details = "Details"
        /// The line that expands a `Details`; must be its direct child.
        case summary = "Summary"
        /// A button that sends an answer with its action's name.
        case submitButton = "SubmitButton"
    }

    /// The component of the catalogue; nil for an unknown name.
    public var kind: Kind? { Kind(rawValue: self.name) }

    /// Returns the value of the first attribute with this name; nil if absent.
    public subscript(attribute: String) -> HypernoteAttribute.Value? {
        self.attributes.first { $0.name == attribute }?.value
    }

    /// The action that a button names; nil if absent.
    public var action: String? {
        guard case .string(let action)? = self["action"] else { return nil }
        let name = action.trimmingBlanks
        return name.isEmpty ? nil : String(name)
    }

    /// The form field that an input or a checklist item fills; nil if absent.
    public var field: String? {
        guard case .string(let name)? = self["name"], !name.isEmpty else { return nil }
        return name
    }
}

/// An attribute of a component.
public struct HypernoteAttribute: Sendable, Hashable {
    /// The value of an attribute, by type.
    public enum Value: Sendable, Hashable {
        /// Text in quotation marks, or a single word.
        case string(String)
        /// A number, with or without braces.
        case number(Double)
        /// An attribute without a value is true.
        case boolean(Bool)
        /// Other text between braces; it is never evaluated.
        case expression(String)
    }

    /// The attribute's name as written.
    public let name: String
    /// The attribute's parsed value.
    public let value: Value
}
