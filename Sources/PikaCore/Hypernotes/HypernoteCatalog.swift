package import Nostr

/// The components and actions that hypernotes may use, for their authors (`hypernote_catalog`, docs/daemon.md).
package enum HypernoteCatalog {
    /// One JSON object: `protocol_version`, `kinds`, `design_principles`, `components`, `actions`.
    package static var json: JSONValue {
        [
            "protocol_version": 1,
            "kinds": [
                "note": .integer(Int64(Kind.hypernote.rawValue)),
                "action_response": .integer(Int64(Kind.hypernoteResponse.rawValue)),
            ],
            "design_principles": [
                "Prefer vertical stacks.",
                "Use a row only for a few short components of fixed width, such as buttons.",
            ],
            "components": .array(self.components.map(\.json)), "actions": [self.submit],
        ]
    }

    private static var submit: JSONValue {
        [
            "name": "submit", "trigger_components": ["SubmitButton"],
            "response_kind": .integer(Int64(Kind.hypernoteResponse.rawValue)), "required_tags": ["e"],
            "payload_schema": #"{"action":"string","form":"object<string,string>"}"#,
            "visibility": "hidden_from_chat_timeline",
            "dedupe_rule": "latest response per (sender, target_hypernote)",
        ]
    }

    private struct Property {
        let name: String
        let kind: String
        var isRequired = false
        let description: String

        var json: JSONValue {
            [
                "name": .string(self.name), "kind": .string(self.kind), "required": .bool(self.isRequired),
                "description": .string(self.description),
            ]
        }
    }

    private struct Component {
        let kind: HypernoteComponent.Kind
        let category: String
        let description: String
        var principles: [String] = []
        var properties: [Property] = []

        var json: JSONValue {
            [
                "name": .string(self.kind.rawValue), "category": .string(self.category),
                "description": .string(self.description),
                "design_principles": .array(self.principles.map { .string($0) }),
                "props": .array(self.properties.map(\.json)),
            ]
        }
    }

    private static var components: [Component] { self.layout + self.typography + self.interaction }

    private static let gap = Property(
        name: "gap", kind: "number", description: "Spacing between children; default 8.")

    private static var layout: [Component] {
        [
            Component(
                kind: .card, category: "layout", description: "A frame with rounded corners around its children.",
                principles: ["A card does not scroll: keep it short, since long content is cut off."]),
            Component(
                kind: .verticalStack, category: "layout", description: "Arranges its children vertically.",
                principles: ["The default layout."], properties: [self.gap]),
            Component(
                kind: .horizontalStack, category: "layout", description: "Arranges its children horizontally.",
                principles: [
                    "Only for short components of fixed width, such as buttons.",
                    "Use a VStack for ChecklistItems and for text of unknown length.",
                ], properties: [self.gap]),
            Component(
                kind: .details, category: "layout", description: "Hides its children until it is expanded.",
                principles: ["Add a Summary, which readers tap to expand it."],
                properties: [
                    Property(
                        name: "open", kind: "boolean", description: "If present, the component is initially expanded.")
                ]),
            Component(
                kind: .summary, category: "layout",
                description: "The line that expands a Details; must be its direct child.",
                principles: ["One short line."]),
        ]
    }

    private static var typography: [Component] {
        [
            Component(kind: .heading, category: "typography", description: "A headline."),
            Component(kind: .body, category: "typography", description: "Body text."),
            Component(kind: .caption, category: "typography", description: "Small, less important text."),
        ]
    }

    private static var interaction: [Component] {
        [
            Component(
                kind: .textInput, category: "interactive", description: "A single-line text field.",
                principles: ["It uses the full width: do not put it into an HStack."],
                properties: [
                    Property(
                        name: "name", kind: "string", isRequired: true,
                        description: "The name of the form field in the answer."),
                    Property(name: "placeholder", kind: "string", description: "A hint shown while it is empty."),
                ]),
            Component(
                kind: .checklistItem, category: "interactive", description: "A checkbox with a label.",
                principles: [
                    "Keep labels to about three words: longer ones wrap on narrow screens.",
                    "Put items with longer labels into a VStack.",
                ],
                properties: [
                    Property(
                        name: "name", kind: "string", isRequired: true,
                        description: "The name of the form field in the answer; its value is true or false."),
                    Property(
                        name: "checked", kind: "boolean",
                        description: "Whether it is initially checked; the hypernote's state takes precedence."),
                ]),
            Component(
                kind: .submitButton, category: "interactive", description: "Sends the form as an answer.",
                properties: [
                    Property(
                        name: "action", kind: "string", isRequired: true,
                        description: "The name of the action in the answer."),
                    Property(
                        name: "variant", kind: "enum(primary|secondary|danger)", description: "The visual style."),
                ]),
        ]
    }
}
