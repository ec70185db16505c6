/// A page: its title, its place in the navigation, and its parts.
///
/// A part is the unit of live updates: the server sends the parts whose markup has changed, and the script replaces
/// them by id.
package struct Page: Sendable, Hashable {
    /// The entries of the navigation.
    package enum Section: Sendable, Hashable, CaseIterable {
        case overview, why, logs, configuration, load
    }

    package struct Part: Sendable, Hashable {
        /// A literal, so that it needs no escaping.
        package let id: String
        package let html: HTML
        /// Whether live updates leave it alone, because it has a form that the viewer fills in.
        package let isFixed: Bool

        package init(_ id: StaticString, _ html: HTML, isFixed: Bool = false) {
            self.id = id.description
            self.html = html
            self.isFixed = isFixed
        }
    }

    package var title: String
    package var section: Section?
    package var path: ConsolePath
    package var parts: [Part]
    /// Whether the script follows changes of the page.
    package var isLive: Bool
    /// The number of the newest log line shown, where the live update continues.
    package var cursor: Int?

    package init(
        title: String, section: Section?, path: ConsolePath, isLive: Bool = true, cursor: Int? = nil, parts: [Part]
    ) {
        self.title = title
        self.section = section
        self.path = path
        self.isLive = isLive
        self.cursor = cursor
        self.parts = parts
    }
}

extension Page.Section {
    var path: ConsolePath {
        switch self {
        case .overview: .overview
        case .why: .why
        case .logs: .logs
        case .configuration: .configuration
        case .load: .load
        }
    }

    var label: String {
        switch self {
        case .overview: "Overview"
        case .why: "Why"
        case .logs: "Logs"
        case .configuration: "Configuration"
        case .load: "Load and probes"
        }
    }
}
