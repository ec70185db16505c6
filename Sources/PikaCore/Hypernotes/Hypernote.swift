public import Nostr

/// A message with interactive components (kind 9467, docs/protocol/marmot.md §8.4).
public struct Hypernote: Sendable, Hashable {
    /// Text with components of the catalogue (``HypernoteCatalog``).
    public var content: String
    /// The `title` tag's value; nil if absent.
    public var title: String?
    /// A JSON object with the initial values of the components.
    public var state: String?

    /// Creates a hypernote.
    public init(content: String, title: String? = nil, state: String? = nil) {
        self.content = content
        self.title = title
        self.state = state
    }
}

extension Hypernote {
    /// The inner event, without author and time.
    public var message: OutgoingMessage {
        var tags: [Tag] = []
        if let title = self.title { tags.append(Tag("title", title)) }
        if let state = self.state { tags.append(Tag("state", state)) }
        return OutgoingMessage(kind: .hypernote, content: self.content, tags: tags)
    }

    /// Reads a message of kind 9467; nil for any other kind.
    public init?(kind: Kind, content: String, tags: [Tag]) {
        guard kind == .hypernote else { return nil }
        self.init(
            content: content, title: tags.first(named: "title")?.value, state: tags.first(named: "state")?.value)
    }

    /// The form's initial values, as text; empty if ``state`` is not a JSON object.
    public var initialForm: [String: String] {
        guard let state = self.state, state.utf8.count <= HypernoteDocument.maximumBytes,
            let object = try? JSONValue(json: state).object
        else { return [:] }
        return object.formFields
    }
}

/// A member's answer to a hypernote (kind 9468): the name of a button's action, and the filled-in form.
public struct HypernoteAction: Sendable, Hashable {
    /// The name of the chosen action.
    public var action: String
    /// The form's values as text, by field; at most ``maximumFields``.
    public var form: [String: String]

    /// The maximum number of fields of a form; an answer with more is invalid.
    public static let maximumFields = 256

    /// Creates an answer; checks no limits.
    public init(action: String, form: [String: String] = [:]) {
        self.action = action
        self.form = form
    }

    /// Creates an answer to be sent. Throws `AppCoreError.Code.notAllowed` if the action's name is empty, or there
    /// are too many fields.
    public init(toSend action: String, form: [String: String]) throws(AppCoreError) {
        let action = action.trimmingBlanks
        guard !action.isEmpty else {
            throw AppCoreError(.notAllowed, "an answer to a hypernote needs the name of an action")
        }
        guard form.count <= Self.maximumFields else {
            throw AppCoreError(.notAllowed, "a form has at most \(Self.maximumFields) fields")
        }
        self.init(action: String(action), form: form)
    }

    /// Parses `{"action": …, "form": {…}}`; nil if malformed. Values other than strings become JSON text; null fields
    /// are dropped.
    public init?(content: String) {
        guard content.utf8.count <= HypernoteDocument.maximumBytes, let json = try? JSONValue(json: content),
            let action = json["action"]?.string?.trimmingBlanks, !action.isEmpty
        else { return nil }
        var fields: [String: String] = [:]
        if let form = json["form"] {
            guard let object = form.object, object.members.count <= Self.maximumFields else { return nil }
            fields = object.formFields
        }
        self.init(action: String(action), form: fields)
    }

    /// The answer as a JSON object, with fields in the order of their names.
    public var content: String {
        var form = JSONObject()
        for (name, value) in self.form.sorted(by: { $0.key < $1.key }) { form[name] = .string(value) }
        return (["action": .string(self.action), "form": .object(form)] as JSONValue).jsonText
    }

    /// Returns the inner event, without author and time.
    public func message(to hypernote: EventID) -> OutgoingMessage {
        OutgoingMessage(kind: .hypernoteResponse, content: self.content, tags: [.event(hypernote)])
    }
}

extension JSONObject {
    fileprivate var formFields: [String: String] {
        var fields: [String: String] = [:]
        for member in self.members where member.value != .null {
            fields[member.name] = member.value.string ?? member.value.jsonText
        }
        return fields
    }
}
