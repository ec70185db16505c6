public import Nostr

/// The components and actions that hypernotes may use, for their authors (`hypernote_catalog`, docs/daemon.md).
public enum HypernoteCatalog {
    /// One JSON object: `protocol_version`, `kinds`, `design_principles`, `components`, `actions`.
    public static var json: JSONValue {
        [
            "protocol_version": 1,
            "kinds": [
                "note": .integer(Int64(Kind.hypernote.rawValue)),
                "action_response": .integer(Int64(Kind.hypernoteResponse.rawValue)),
            ],
            "design_principles": [
                "Stack vertically unless there is a reason not to.",
                "A row is for a few short things of fixed width, such as buttons.",
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
        name: "gap", kind: "number", description: "Distance between the things inside; 8 if it is not said.")

    private static var layout: [Component] {
        [
            Component(
                kind: .card, category: "layout", description: "A frame with round corners around what is inside.",
                principles: ["It does not scroll: long content is cut off, so keep it short."]),
            Component(
                kind: .verticalStack, category: "layout", description: "Puts what is inside one below the other.",
                principles: ["The layout to take in doubt."], properties: [self.gap]),
            Component(
                kind: .horizontalStack, category: "layout", description: "Puts what is inside side by side.",
                principles: [
                    "Only for short things of fixed width, such as buttons.",
                    "No ChecklistItem and no text of unknown length inside; take a VStack for those.",
                ], properties: [self.gap]),
            Component(
                kind: .details, category: "layout", description: "Hides what is inside until it is unfolded.",
                principles: ["Give it a Summary, which is what one taps on."],
                properties: [
                    Property(
                        name: "open", kind: "boolean", description: "Unfolded from the start if it is there.")
                ]),
            Component(
                kind: .summary, category: "layout",
                description: "The line that unfolds a Details; it stands directly inside of one.",
                principles: ["One short line."]),
        ]
    }

    private static var typography: [Component] {
        [
            Component(kind: .heading, category: "typography", description: "A headline."),
            Component(kind: .body, category: "typography", description: "Running text."),
            Component(kind: .caption, category: "typography", description: "Small, less important text."),
        ]
    }

    private static var interaction: [Component] {
        [
            Component(
                kind: .textInput, category: "interactive", description: "One line of text to fill in.",
                principles: ["It takes the whole width: do not put it into an HStack."],
                properties: [
                    Property(
                        name: "name", kind: "string", isRequired: true,
                        description: "The form field that the answer carries it in."),
                    Property(name: "placeholder", kind: "string", description: "A hint while it is empty."),
                ]),
            Component(
                kind: .checklistItem, category: "interactive", description: "Something to tick.",
                principles: [
                    "Labels break on narrow screens: about three words are good.",
                    "Longer ones go below each other, in a VStack.",
                ],
                properties: [
                    Property(
                        name: "name", kind: "string", isRequired: true,
                        description: "The form field that the answer carries it in, as true or false."),
                    Property(
                        name: "checked", kind: "boolean",
                        description: "Ticked from the start, unless the hypernote's state says otherwise."),
                ]),
            Component(
                kind: .submitButton, category: "interactive", description: "Answers with the form as it is.",
                properties: [
                    Property(
                        name: "action", kind: "string", isRequired: true,
                        description: "The name of the action in the answer."),
                    Property(
                        name: "variant", kind: "enum(primary|secondary|danger)", description: "How it stands out."),
                ]),
        ]
    }
}
