/// A message with components to show and to fill in (kind 9467, wire §8.0).
public struct Hypernote: Sendable, Hashable {
    /// Text with components, as the catalogue has them.
    public var content: String
    public var title: String?
    /// A JSON object: what the components show at first.
    public var state: String?

    public init(content: String, title: String? = nil, state: String? = nil) {
        self.content = content
        self.title = title
        self.state = state
    }
}
